/** The built-in page: choose a flow, drop files; each becomes a run with a card of its own. */
import { type Flow, read } from './api.ts';
import { find } from './card.ts';
import { inputsOf, startRun } from './run.ts';

const select = find(document, '#flow', HTMLSelectElement);
const input = find(document, '#files', HTMLInputElement);
const zone = find(document, '#zone', HTMLElement);

const notice = (text: string): void => {
  find(document, '#notice', HTMLElement).textContent = text;
};

const report = (error: unknown): void => notice(error instanceof Error ? error.message : String(error));

const listFlows = async (): Promise<void> => {
  const { flows } = await read<{ flows: readonly Flow[] }>('GET', 'api/flow');
  const about = find(document, '#about', HTMLElement);
  const texts = [about.textContent, ...flows.map(({ description = '' }) => description)];
  select.append(...flows.map(({ flowId, name }) => new Option(name, flowId)));
  select.onchange = () => {
    about.textContent = texts[select.selectedIndex] ?? '';
  };
};

/** As many files to a run as the flow takes at once. */
const start = async (files: readonly File[]): Promise<void> => {
  notice('');
  const flowId = encodeURIComponent(select.value);
  const flow = flowId === '' ? undefined : await read<Flow>('GET', `api/flow/${flowId}`);
  const [nodeId = '', ...others] = flow === undefined ? ['none'] : inputsOf(flow);
  if (nodeId === '' || others.length > 0)
    return notice('This page can only run flows with one file input. Others are for the API');
  const size = flow?.nodes[nodeId]?.options?.maxFiles ?? 1;
  for (let index = 0; index < files.length; index += size) void startRun(files.slice(index, index + size), flow);
};

/** What was dropped or pasted; folders look like files and cannot be read. */
const take = (data: DataTransfer | null): void => {
  const items = [...(data?.items ?? [])].filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
  const files = items.map((item) => item.getAsFile()).filter((file) => file !== null);
  if (files.length > 0) start(files).catch(report);
};

input.onchange = () => {
  start([...(input.files ?? [])]).catch(report);
  input.value = ''; // so that the same file can be chosen again
};
find(document, '#choose', HTMLElement).onclick = () => input.click();
document.addEventListener('paste', (event) => take(event.clipboardData));
// The whole page takes drops: a file that misses the zone would otherwise replace the page.
for (const type of ['dragover', 'dragleave', 'drop'] as const) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    zone.classList.toggle('over', type === 'dragover');
    if (type === 'drop') take(event.dataTransfer);
  });
}
window.addEventListener('beforeunload', (event) => {
  if (document.querySelector('[data-state="sending"]') !== null) event.preventDefault();
});
listFlows().catch(report);
