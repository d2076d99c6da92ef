/** A flow that parts and joins: files go two ways, come together, get marks from an edge, an asset and a text. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { type Answer, call, download, ended, patch } from '../support/api.ts';
import { startDeployment, storageType } from '../support/deployment.ts';
import { pixelsOf, plainPng } from '../support/pixels.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const flow = `flowId: marked
name: Marked
nodes:
  photos: { type: file-input, options: { maxFiles: 5 } }
  logo: { type: file-input }
  wide: { type: conditional, options: { conditions: [{ field: meta.width, operator: gt, value: 100 }] } }
  small: { type: resize, options: { width: 100 } }
  all: { type: merge }
  mark: { type: watermark, options: { gravity: northwest } }
  asset: { type: watermark, options: { image: assets/logo.png, gravity: northeast } }
  named: { type: watermark, options: { text: "█{{file.extension}}", color: "#ffff00", scale: 0.5 } }
  sheet: { type: merge, options: { strategy: images, shim: 10, background: "#ffffff" } }
edges:
  - { source: photos, target: wide }
  - { source: wide, sourceHandle: "true", target: small }
  - { source: small, target: all }
  - { source: wide, sourceHandle: "false", target: all }
  - { source: all, target: mark }
  - { source: logo, target: mark, targetHandle: overlay }
  - { source: mark, target: asset }
  - { source: asset, target: named }
  - { source: named, target: sheet }
`;

const skip = storageType !== 'local' && 'its asset is put into a directory';

t.test('pictures go their ways and end on one sheet', { skip }, async (t) => {
  const [data, flows] = [await temporaryDirectory(t), await temporaryDirectory(t)];
  await writeFile(join(flows, 'marked.yaml'), flow);
  const assets = join(data, 'files/assets');
  await mkdir(assets, { recursive: true });
  await writeFile(join(assets, 'logo.png'), (await plainPng(40, 20, '#ff0000')).bytes);
  const service = await startDeployment({ DATA_DIR: data, FLOWS_DIR: flows });
  t.teardown(() => service.stop());
  const { url } = service;
  const photos = await Promise.all([plainPng(80, 80, '#000040'), plainPng(400, 400, '#004000')]);
  const logo = (await plainPng(40, 20, '#00ffff')).bytes;

  const init = (bytes: Buffer) => ({
    operation: 'init',
    metadata: { originalName: 'a.png', mimeType: 'image/png', size: bytes.length },
  });
  const inputs = { photos: photos.map(({ bytes }) => init(bytes)), logo: init(logo) };
  const { body } = await call(url, 'POST', '/api/flow/marked/default', { inputs });
  const idsOf = (nodeId: string): string[] => {
    const { result, results = [result] } = body.tasks.find((task: Answer) => task.nodeId === nodeId);
    return results.map((upload: Answer) => upload.id);
  };
  for (const [index, id] of idsOf('photos').entries()) await patch(url, id, photos[index]?.bytes ?? Buffer.alloc(0));
  for (const id of idsOf('logo')) await patch(url, id, logo);

  const job = await ended(url, body.jobId);
  t.equal(job.status, 'completed', JSON.stringify(job.error));
  t.same(Object.keys(job.outputs), ['sheet']);
  const { width, height, at } = await pixelsOf(await download(url, job.outputs.sheet.url));
  t.same([width, height], [210, 100], 'two cells and the room between them');
  // The way over "small" is the first edge of "all", whatever the order of the uploads.
  t.same(at(50, 50), [0, 64, 0, 255]);
  t.same(
    [at(2, 2), at(97, 2)],
    [
      [0, 255, 255, 255],
      [255, 0, 0, 255],
    ],
    'the mark of the edge, and that of the storage',
  );
  // The smaller one stands in the middle of its cell.
  t.same(
    [at(105, 50), at(115, 50), at(160, 50)],
    [
      [255, 255, 255, 255],
      [255, 255, 255, 255],
      [0, 0, 64, 255],
    ],
  );
  t.same(
    [at(122, 12), at(197, 12)],
    [
      [0, 255, 255, 255],
      [255, 0, 0, 255],
    ],
  );
  const yellow = Array.from({ length: 100 * 100 }, (_, index) => at(index % 100, Math.floor(index / 100)));
  t.ok(
    yellow.some(([red = 0, green = 0, blue = 255]) => red > 240 && green > 240 && blue < 20),
    'and the text',
  );
});

t.test('an asset that is not there ends the job', async (t) => {
  const [data, flows] = [await temporaryDirectory(t), await temporaryDirectory(t)];
  const lines = [
    'nodes:',
    '  photo: { type: file-input }',
    '  mark: { type: watermark, options: { image: assets/x.png } }',
  ];
  const edges = 'edges: [{ source: photo, target: mark }]';
  await writeFile(join(flows, 'x.yaml'), ['flowId: x', 'name: X', ...lines, edges].join('\n'));
  const service = await startDeployment({ DATA_DIR: data, FLOWS_DIR: flows });
  t.teardown(() => service.stop());
  const { bytes } = await plainPng(8, 8, '#000040');
  const metadata = { originalName: 'a.png', mimeType: 'image/png', size: bytes.length };
  const inputs = { photo: { operation: 'init', metadata } };
  const { body } = await call(service.url, 'POST', '/api/flow/x/default', { inputs });
  await patch(service.url, body.tasks[0].result.id, bytes);
  const job = await ended(service.url, body.jobId);
  t.match(job.error, {
    nodeId: 'mark',
    code: 'MISSING_INPUT',
    message: 'There is no file "assets/x.png" in the storage',
  });
});
