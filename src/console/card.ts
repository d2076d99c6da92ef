/** A run as the reader sees it. The templates are in page.html; style.css shows and hides by `data-state`. */
import type { Flow, Output, Problem } from './api.ts';

export type Card = ReturnType<typeof openCard>;

/** The one element of that kind; page.html has it. */
export const find = <T extends Element>(root: ParentNode, selector: string, type: new () => T): T => {
  const found = root.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`page.html has no ${selector}`);
};

const clone = (template: string): HTMLElement =>
  find(document.importNode(find(document, template, HTMLTemplateElement).content, true), 'li', HTMLElement);

/** `4.2 MB` */
const formatBytes = (bytes: number): string => {
  const power = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const value = (bytes / 1000 ** power).toLocaleString('en', { maximumFractionDigits: power > 0 ? 1 : 0 });
  return `${value} ${['B', 'kB', 'MB', 'GB', 'TB'][power]}`;
};

const element = (tag: string, text: string): HTMLElement => {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
};

/** Puts a new card on top of the others. */
export const openCard = (files: readonly File[], flow: Flow | undefined) => {
  const card = clone('#run');
  const part = (selector: string) => find(card, selector, HTMLElement);
  const total = files.reduce((sum, file) => sum + file.size, 0);
  part('h2').textContent = files.map((file) => file.name).join(', ');
  part('.facts').textContent = `${formatBytes(total)} · ${flow?.name ?? 'Upload'}`;
  showPicture(find(card, '.thumb', HTMLImageElement), files[0]);
  const nodes = Object.keys(flow?.nodes ?? {});
  const setNode = (nodeId: string, state: string) => {
    const item = part('.nodes').children[nodes.indexOf(nodeId)];
    item?.setAttribute('data-state', state);
    item?.replaceChildren(nodeId, element('small', flow?.nodes[nodeId]?.name ?? ''), element('span', `, ${state}`));
  };
  /** What the job has not told of before its end. */
  const endNodes = () => {
    for (const [index, { dataset }] of [...part('.nodes').querySelectorAll('li')].entries()) {
      if (!/^(completed|failed|skipped)$/.test(dataset['state'] ?? '')) setNode(nodes[index] ?? '', 'cancelled');
    }
  };
  part('.nodes').append(...nodes.map(() => element('li', '')));
  for (const nodeId of nodes) setNode(nodeId, 'pending');
  find(document, '#runs', HTMLElement).prepend(card);
  return {
    setNode,
    onCancel(work: () => void) {
      part('.cancel').onclick = work;
    },
    enter(state: 'sending' | 'working' | 'completed' | 'failed' | 'cancelled', words: string) {
      card.dataset['state'] = state;
      part('.words').textContent = words;
      if (state === 'failed' || state === 'cancelled') endNodes();
    },
    connected(yes: boolean) {
      const words = yes ? 'Working' : 'The connection is lost. Connecting again';
      if (card.dataset['state'] === 'working') part('.words').textContent = words;
    },
    sent(bytes: number) {
      find(card, 'progress', HTMLProgressElement).value = total === 0 ? 1 : bytes / total;
      part('.bytes').textContent = `${formatBytes(bytes)} of ${formatBytes(total)}`;
    },
    showProblem({ nodeId, message, code }: Problem) {
      if (nodeId !== undefined) setNode(nodeId, 'failed');
      const at = nodeId === undefined ? '' : `${nodeId}: `;
      part('.problem').replaceChildren(element('strong', at), message, ' ', element('code', code));
    },
    showResults: (outputs: readonly Output[]) => part('.results').append(...outputs.map(resultItem)),
  };
};

/** A small picture of the file, if the browser can show it. Huge ones would cost more than they tell. */
const showPicture = (image: HTMLImageElement, file: File | undefined): void => {
  if (file === undefined || !file.type.startsWith('image/') || file.size > 50_000_000) return;
  image.src = URL.createObjectURL(file);
  image.onload = () => {
    image.hidden = false;
  };
};

const resultItem = ({ url, size, mimeType, fileName, nodeId, meta }: Output): HTMLElement => {
  const item = clone('#result');
  const [open, name] = [find(item, '.open', HTMLAnchorElement), find(item, '.name', HTMLAnchorElement)];
  // Relative to the page: PUBLIC_URL may name another host than the one that the reader uses.
  open.href = name.href = url.slice(url.indexOf('/api/files/') + 1);
  name.textContent = name.download = fileName;
  const pixels = meta?.width === undefined ? [] : [`${meta.width} × ${meta.height}`];
  const made = nodeId === undefined ? '' : `${[nodeId, ...pixels].join(' · ')}\n`;
  find(item, '.facts', HTMLElement).textContent = `${made}${mimeType} · ${formatBytes(size)}`;
  const picture = find(item, 'img', HTMLImageElement);
  picture.alt = `Preview of ${fileName}`;
  picture.onerror = () => open.remove();
  if (mimeType.startsWith('image/')) picture.src = open.href;
  else open.remove();
  return item;
};
