/** How a file is offered: which types a browser may show, and the name it is saved under (RFC 6266, RFC 8187). */
import { safeFileName } from '../domain/file-name.ts';

/** Shown in place; everything that can carry script (HTML, SVG, XML, PDF) is downloaded. */
const safe = /^(?:image\/(?:png|jpeg|gif|bmp|webp|avif)|(?:audio|video)\/[\w.+-]+|text\/plain)$/;

export const contentDisposition = (fileName: string, mimeType: string): string => {
  const kind = safe.test(mimeType) ? 'inline' : 'attachment';
  const name = safeFileName(fileName, '');
  if (name === '') return kind;
  const ascii = name.replaceAll(/[^\x20-\x7e]|%/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
};
