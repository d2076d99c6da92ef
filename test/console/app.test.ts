/** The built-in page as its readers use it, in a real browser. */
import { createHash, randomBytes } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, CDPSession, Locator, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { startFaultProxy } from '../faults/proxy.ts';
import { findChromium, launchChromium } from '../services/chromium.ts';
import { makePhoto } from '../support/photo.ts';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { gate } from '../support/wait.ts';

const executable = findChromium();
const skip = executable === undefined ? 'no Chromium, and TEST_SERVICES=embedded' : false;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

t.test('the page', { skip }, async (t) => {
  const directory = await temporaryDirectory(t);
  const flows = join(directory, 'flows');
  await cp(new URL('../../flows', import.meta.url), flows, { recursive: true });
  await Promise.all([writeFlow(flows, 'pair', { maxFiles: 2 }), writeFlow(flows, 'two-inputs', {}, ['left', 'right'])]);
  const [service, browser, photo] = await Promise.all([
    startService({ DATA_DIR: join(directory, 'data'), FLOWS_DIR: flows }),
    launchChromium(executable ?? ''),
    makePhoto({ width: 2000, height: 1500 }),
  ]);
  t.teardown(() => Promise.all([browser.close(), service.stop()]));
  const { url } = service;
  const photoPath = join(directory, 'harbour.jpg');
  await writeFile(photoPath, photo);

  t.test('a dropped photo comes back in two sizes', async (t) => {
    const { page, cdp, complaints } = await openPage(t, browser, url);
    t.equal(new URL(page.url()).pathname, '/sluice/', 'the address without a slash leads here');
    await flowSelect(page).selectOption({ label: 'Two sizes' });
    t.match(await page.locator('#about').textContent(), '400 and 1600');
    await limitUploads(cdp, photo.length * 2);
    await drop(page, cdp, photoPath);
    const run = page.locator('.run');
    await run.locator('.bytes', { hasText: /^[1-9].* of / }).waitFor();
    const sent = await run.getByRole('progressbar').evaluate((bar: HTMLProgressElement) => bar.value);
    t.ok(sent > 0 && sent < 1, 'the bar is on its way');
    await limitUploads(cdp, -1);
    await run.getByText('Done in').waitFor();
    t.same(await nodeStates(run), ['completed', 'completed', 'completed', 'completed', 'completed']);
    t.match(await run.locator('.results .facts').allTextContents(), [
      /^small-web · 400 × 300\nimage\/webp · [\d.]+ kB$/,
      /^large-web · 1600 × 1200\nimage\/webp · [\d.]+ kB$/,
    ]);
    for (const [index, width] of [400, 1600].entries()) {
      const preview = run.locator('.results img').nth(index);
      await preview.scrollIntoViewIfNeeded();
      await page.waitForFunction(
        (image) => image instanceof HTMLImageElement && image.complete,
        await preview.elementHandle(),
      );
      t.equal(await preview.evaluate((image: HTMLImageElement) => image.naturalWidth), width, 'the preview is shown');
      const { name, bytes } = await download(page, run.locator('.results .name').nth(index));
      t.equal(name, 'harbour.webp');
      t.equal(bytes.toString('latin1', 8, 12), 'WEBP');
    }
    t.same(complaints, []);
  });

  t.test('without a flow a file is stored, with the keyboard alone', async (t) => {
    const { page, complaints } = await openPage(t, browser, `${url}/`);
    // Early: the browser must know in time that nobody is there to see its dialog.
    const choosing = page.waitForEvent('filechooser');
    for (const role of ['link', 'combobox', 'button'] as const) {
      await page.keyboard.press('Tab');
      t.ok(
        await page
          .getByRole(role)
          .first()
          .evaluate((element) => element === document.activeElement),
        role,
      );
    }
    await page.keyboard.press('Enter');
    const chooser = await choosing;
    t.ok(chooser.isMultiple());
    await chooser.setFiles([
      { name: 'Grüße <1>.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') },
      { name: 'empty.bin', mimeType: '', buffer: Buffer.alloc(0) },
    ]);
    const letter = page.locator('.run', { hasText: 'Grüße' });
    await letter.getByText('Stored', { exact: true }).waitFor();
    t.equal(await letter.locator('.results .facts').textContent(), 'text/plain · 5 B');
    const { name, bytes } = await download(page, letter.locator('.results .name'));
    t.match(name, /^Grüße .1.\.txt$/);
    t.equal(bytes.toString(), 'hello');
    const empty = page.locator('.run', { hasText: 'empty.bin' });
    await empty.getByText('Stored', { exact: true }).waitFor();
    t.match(await empty.locator('.results .facts').textContent(), /0 B$/);
    t.same(complaints, []);
  });

  t.test('a flow gets as many files at once as it takes', async (t) => {
    const { page, complaints } = await openPage(t, browser, `${url}/`);
    await flowSelect(page).selectOption('pair');
    const names = ['one.jpg', 'two.jpg', 'three.jpg'];
    await page.locator('#files').setInputFiles(names.map((name) => ({ name, mimeType: 'image/jpeg', buffer: photo })));
    await page.getByText('Done in').nth(1).waitFor();
    t.same(await page.locator('.run h2').allTextContents(), ['three.jpg', 'one.jpg, two.jpg']);
    t.same(await page.locator('.results .name').allTextContents(), ['three.jpg', 'one.jpg', 'two.jpg']);
    await flowSelect(page).selectOption('two-inputs');
    await page.locator('#files').setInputFiles(photoPath);
    await page.getByRole('alert').getByText('only run flows with one file input').waitFor();
    t.equal(await page.locator('.run').count(), 2, 'no run is begun');
    t.same(complaints, []);
  });

  t.test('what goes wrong is told in words, with the node', async (t) => {
    const { page, complaints } = await openPage(t, browser, `${url}/`);
    await flowSelect(page).selectOption({ label: 'Two sizes' });
    await choose(page, 'notes.jpg', Buffer.from('this is no picture\n'.repeat(99)));
    const run = page.locator('.run', { hasText: 'notes.jpg' });
    const problem = run.getByRole('alert');
    await problem.getByText('is not an image').waitFor();
    t.match(
      await problem.textContent(),
      /^(small|large): notes.jpg is not an image that can be read here UNSUPPORTED_FORMAT$/,
    );
    t.ok((await nodeStates(run)).includes('failed'));
    t.notOk((await nodeStates(run)).includes('running'), 'nothing seems to go on');
    t.same(complaints, []);
    await choose(page, 'notes.txt', Buffer.from('no picture either'));
    const refused = page.locator('.run', { hasText: 'notes.txt' }).getByRole('alert');
    t.match(await refused.textContent(), 'photo: Input "photo" takes image/*, not text/plain');
    t.match(complaints, [/status of 415/], 'the browser says it too');
  });

  t.test('cancel ends the upload and the job', async (t) => {
    const { page, cdp, complaints } = await openPage(t, browser, `${url}/`);
    await limitUploads(cdp, photo.length / 20);
    for (const flow of ['', 'two-sizes']) {
      await flowSelect(page).selectOption(flow);
      const [made] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'POST'),
        page.locator('#files').setInputFiles(photoPath),
      ]);
      const record = (await made.json()) as { id: string; jobId?: string };
      const run = page.locator('.run').first();
      await run.locator('.bytes', { hasText: /^[1-9].* of / }).waitFor();
      await run.getByRole('button', { name: 'Cancel' }).click();
      await run.getByText('Cancelled', { exact: true }).waitFor();
      t.equal(await run.getByRole('button').count(), 0, 'there is nothing left to cancel');
      if (record.jobId === undefined) t.equal((await fetch(`${url}/api/upload/${record.id}`)).status >= 404, true);
      else t.match(await (await fetch(`${url}/api/jobs/${record.jobId}/status`)).json(), { status: 'cancelled' });
    }
    t.same(complaints, []);
  });

  t.test('a cancel that comes before the job is made waits for it', async (t) => {
    const { page } = await openPage(t, browser, `${url}/`);
    const creation = gate();
    await page.route('**/api/flow/*/default', async (route) => {
      await creation.passed;
      await route.continue();
    });
    await flowSelect(page).selectOption('two-sizes');
    await page.locator('#files').setInputFiles(photoPath);
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Cancel' }).click();
    creation.open();
    const { jobId } = (await (await answer).json()) as { jobId: string };
    await page.getByText('Cancelled', { exact: true }).waitFor();
    t.match(await (await fetch(`${url}/api/jobs/${jobId}/status`)).json(), { status: 'cancelled' });
  });

  t.test('a cut connection is told and resumed', async (t) => {
    const proxy = await startFaultProxy(t, url);
    const { page } = await openPage(t, browser, `${proxy.url}/`);
    const bytes = randomBytes(20_000_000);
    const path = join(directory, 'noise.bin');
    await writeFile(path, bytes);
    proxy.set({ after: 12_000_000, by: 'rst' });
    const patches: number[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') patches.push(Number(request.headers()['upload-offset']));
    });
    await page.locator('#files').setInputFiles(path);
    const run = page.locator('.run');
    await run.getByText('The service cannot be reached. Trying again in 1 s').waitFor();
    proxy.set({});
    await run.getByText('Stored', { exact: true }).waitFor();
    t.equal(proxy.cuts, 1);
    t.same(patches.slice(0, 2), [0, 8 * 1024 * 1024]);
    t.ok((patches[2] ?? 0) > 8 * 1024 * 1024, 'what had arrived of the cut chunk is not sent again');
    t.equal(sha256((await download(page, run.locator('.results .name'))).bytes), sha256(bytes));
  });

  t.test('a cut while a flow runs loses no event', async (t) => {
    const proxy = await startFaultProxy(t, url);
    const { page } = await openPage(t, browser, `${proxy.url}/`);
    await flowSelect(page).selectOption({ label: 'Two sizes' });
    const sockets: string[] = [];
    page.on('websocket', (socket) => sockets.push(socket.url()));
    proxy.set({ before: 'node_started', by: 'rst' });
    await page.locator('#files').setInputFiles(photoPath);
    const run = page.locator('.run');
    await run.getByText(/connection is lost|cannot be reached/).waitFor();
    proxy.set({});
    await run.getByText('Done in').waitFor();
    t.equal(proxy.cuts, 1);
    t.match(sockets[0], /since=0$/);
    t.match(sockets.at(-1), /since=[1-9]$/);
    t.same(await nodeStates(run), ['completed', 'completed', 'completed', 'completed', 'completed']);
    t.equal(await run.locator('.results img').count(), 2);
  });
});

const writeFlow = (directory: string, flowId: string, options: object, inputs: readonly string[] = ['photos']) =>
  writeFile(
    join(directory, `${flowId}.json`),
    JSON.stringify({
      flowId,
      name: flowId,
      nodes: {
        ...Object.fromEntries(
          inputs.map((key) => [key, { type: 'file-input', options: { allowedMimeTypes: ['image/*'], ...options } }]),
        ),
        half: { type: 'resize', options: { width: 100 } },
      },
      edges: inputs.map((source) => ({ source, target: 'half' })),
    }),
  );

/** A page of its own, and all that the browser complains about in it: errors, warnings, violations of the policy. */
const openPage = async (t: Test, browser: Browser, address: string) => {
  const context = await browser.newContext();
  t.teardown(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(address);
  await page.locator('#flow option').nth(1).waitFor({ state: 'attached' });
  return { page, cdp: await context.newCDPSession(page), complaints };
};

const flowSelect = (page: Page): Locator => page.getByRole('combobox', { name: 'Flow' });

/** Bytes per second; -1: no limit. */
const limitUploads = (cdp: CDPSession, uploadThroughput: number) =>
  cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput,
  });

/** As from a file manager: the browser reads the file from the disk. */
const drop = async (page: Page, cdp: CDPSession, path: string): Promise<void> => {
  const box = await page.locator('#zone').boundingBox();
  const at = {
    x: (box?.x ?? 0) + 20,
    y: (box?.y ?? 0) + 20,
    data: { items: [], files: [path], dragOperationsMask: 1 },
  };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await cdp.send('Input.dispatchDragEvent', { type, ...at });
};

const choose = (page: Page, name: string, buffer: Buffer): Promise<void> =>
  page.locator('#files').setInputFiles({ name, mimeType: '', buffer });

const nodeStates = (run: Locator) =>
  run.locator('.nodes li').evaluateAll((nodes: HTMLElement[]) => nodes.map((node) => node.dataset['state'] ?? ''));

const download = async (page: Page, link: Locator) => {
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
};
