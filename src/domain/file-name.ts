/** A record keeps the name that its client sent; a name that anything is stored or offered under is made here. */

/** UTF-8 bytes that file systems take for one name. */
const maxBytes = 255;

/** Characters that show nothing and change what is around them: controls, directions of writing, line separators. */
const hidden = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/** Separators of paths, and what Windows refuses in names. */
const reserved = /[/\\:*?"<>|]/g;

/** Hidden files, `.` and `..` at the front; at the end what Windows drops. */
const edges = /^[\s.]+|[\s.]+$/g;

/** Names that Windows reads as devices, whatever extension follows. */
const device = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³])(?=\s*(?:\.|$))/i;

/**
 * The name as one that is safe in every file system, archive and header: NFC, nothing hidden, `_` for what is reserved,
 * at most 255 bytes with its extension kept. `fallback` when nothing is left. A safe name stays as it is.
 */
export const safeFileName = (name: string, fallback: string): string => {
  const visible = name.toWellFormed().replaceAll(hidden, '').normalize('NFC');
  const harmless = visible.replaceAll(reserved, '_').replaceAll(edges, '').replace(device, '_$&');
  return shorten(harmless) || fallback;
};

/** A dot and the few characters after it that people would call an extension. */
const extension = /\.[^.\s]{1,16}$/u;

const shorten = (name: string): string => {
  if (bytesOf(name) <= maxBytes) return name;
  const [ending = ''] = extension.exec(name) ?? [];
  const stem = name.slice(0, name.length - ending.length);
  return `${cut(stem, maxBytes - bytesOf(ending)).replaceAll(edges, '')}${ending}`;
};

/** The first characters, whole ones, that fit into so many bytes. */
const cut = (text: string, bytes: number): string => {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
};

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
