/** Media types and the globs of `allowedMimeTypes`. */

/** Whether `type` matches one of the globs (an exact type, or with a star for either half); parameters are ignored. */
export const matchesMediaType = (type: string, globs: readonly string[]): boolean => {
  const [main, sub] = splitMediaType(type);
  return globs.some((glob) => {
    const [globMain, globSub] = splitMediaType(glob);
    return (globMain === '*' || globMain === main) && (globSub === '*' || globSub === sub);
  });
};

/** Whether some type could match both lists: what a node produces against what the next one accepts. */
export const mediaTypesOverlap = (left: readonly string[], right: readonly string[]): boolean =>
  left.some((glob) => {
    const [main, sub] = splitMediaType(glob);
    return right.some((other) => {
      const [otherMain, otherSub] = splitMediaType(other);
      const mains = main === '*' || otherMain === '*' || main === otherMain;
      return mains && (sub === '*' || otherSub === '*' || sub === otherSub);
    });
  });

const splitMediaType = (type: string): [string, string] => {
  const [main = '', sub = ''] = (type.split(';')[0] ?? '').trim().toLowerCase().split('/');
  return [main, sub];
};

const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'image/tiff': 'tiff',
  'text/plain': 'txt',
  'text/csv': 'csv',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
};

/** The usual file extension of a type, without the dot; `bin` when unknown. */
export const extensionOf = (type: string): string => extensions[type] ?? 'bin';

/** The type that the extension of a file name stands for; an empty text when it is not known. */
export const mediaTypeOfName = (fileName: string): string => {
  const extension = /\.([^.]+)$/.exec(fileName.toLowerCase())?.[1] ?? '';
  const known = Object.entries(extensions).find(([, usual]) => usual === (synonyms[extension] ?? extension));
  return known?.[0] ?? '';
};

const synonyms: Readonly<Record<string, string>> = { jpeg: 'jpg', tif: 'tiff' };
