/** From keys to the names of objects, and back. */
import { ServiceError } from '../../../domain/errors.ts';
import { isKey } from '../keys.ts';

/** For tails; `~` is in no key, so no key can name one, and a rule of the bucket can expire all of them. */
const tails = '~tails/';

const refuse = (text: string): never => {
  throw new ServiceError('STORAGE_ERROR', undefined, { cause: new Error(`${JSON.stringify(text)} is not a key`) });
};

export interface Names {
  object(key: string): string;
  tail(key: string, id: string): string;
  /** What the names of all tails of a key begin with. */
  tailsOf(key: string): string;
  /** What the names of all tails begin with. */
  readonly tails: string;
  /** What the names of the objects begin with whose keys begin with `prefix`. */
  beginning(prefix: string): string;
  /** `undefined`: not the name of a key's object. */
  keyOf(name: string): string | undefined;
  /** `undefined`: not the name of a tail. */
  tailOf(name: string): { readonly key: string; readonly id: string } | undefined;
}

/** `prefix` is put before all names; with or without a slash at its end. */
export const createNames = (prefix: string): Names => {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '');
  const root = trimmed === '' ? '' : `${trimmed}/`;
  const checked = (key: string): string => (isKey(key) ? key : refuse(key));
  const names: Names = {
    object: (key) => root + checked(key),
    tails: root + tails,
    tailsOf: (key) => `${names.tails}${checked(key)}/`,
    tail: (key, id) => names.tailsOf(key) + id,
    beginning: (start) => {
      const directory = start.slice(0, start.lastIndexOf('/') + 1);
      return directory === '' || isKey(directory.slice(0, -1)) ? root + start : refuse(start);
    },
    keyOf: (name) => {
      const key = name.startsWith(root) ? name.slice(root.length) : '';
      return isKey(key) ? key : undefined;
    },
    tailOf: (name) => {
      const [, key = '', id = ''] = name.startsWith(names.tails)
        ? (/^(.+)\/([^/]+)$/.exec(name.slice(names.tails.length)) ?? [])
        : [];
      return isKey(key) ? { key, id } : undefined;
    },
  };
  return names;
};
