/** From keys to paths: the only place where a key becomes part of a path. */
import { ServiceError } from '../../../domain/errors.ts';
import { isKey } from '../keys.ts';

const refuse = (text: string): never => {
  throw new ServiceError('STORAGE_ERROR', undefined, { cause: new Error(`${JSON.stringify(text)} is not a key`) });
};

/** The path of a key below `root`. */
export const pathOf = (root: string, key: string): string => (isKey(key) ? `${root}/${key}` : refuse(key));

/** The part of a prefix that names whole directories: empty, or ending with a slash. */
export const directoryOf = (prefix: string): string => {
  const directory = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  return directory === '' || isKey(directory.slice(0, -1)) ? directory : refuse(prefix);
};
