/** The `metadata` of a new upload, in every form that clients send it (WIRE 1). */
import { ServiceError } from './errors.ts';
import type { JsonValue } from './upload.ts';

type Metadata = { readonly [key: string]: JsonValue };

/**
 * Reads an object, `""`, JSON text, base64 of JSON, or tus pairs (`key base64,key base64`: tus 1.0.0,
 * `Upload-Metadata`). Throws `INVALID_METADATA` for anything else.
 */
export const readMetadata = (value: unknown): Metadata => {
  if (value === undefined || value === '') return {};
  if (isObject(value)) return value;
  if (typeof value !== 'string') throw new ServiceError('INVALID_METADATA');
  // Broken JSON could pass for a tus key without a value.
  const read = /^\s*[[{"]/.test(value) ? fromJson(value) : (fromJson(fromBase64(value)) ?? fromTusPairs(value));
  if (read === undefined) throw new ServiceError('INVALID_METADATA');
  return read;
};

const isObject = (value: unknown): value is Metadata =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fromJson = (text: string | undefined): Metadata | undefined => {
  if (text === undefined || !text.trimStart().startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text, (key, inner) => (key === '__proto__' ? undefined : inner));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const fromBase64 = (text: string): string | undefined =>
  base64.test(text) ? new TextDecoder().decode(Uint8Array.from(atob(text), (char) => char.charCodeAt(0))) : undefined;

const tusKey = /^[\x21-\x2b\x2d-\x7e]+$/;

const fromTusPairs = (text: string): Metadata | undefined => {
  const pairs: [string, string][] = [];
  for (const pair of text.split(',')) {
    const [key = '', encoded = '', ...rest] = pair.trim().split(' ');
    const value = fromBase64(encoded);
    if (!tusKey.test(key) || value === undefined || rest.length > 0) return undefined;
    pairs.push([key, value]);
  }
  return Object.fromEntries(pairs);
};
