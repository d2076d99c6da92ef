/** What conditions may ask about a file. */
import { parse } from 'node:path';
import type { Params } from '../../domain/params.ts';
import { lookUp } from '../../domain/template.ts';
import type { JsonValue } from '../../domain/upload.ts';
import { formatOf } from '../image/format.ts';

/** A file as far as it is known. */
export interface KnownFile {
  readonly fileName: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly meta?: { readonly [key: string]: JsonValue };
  /** What the job was started with. */
  readonly params?: Params;
  /** Its header has been read, if it has one: what `meta` does not say, nothing says. */
  readonly looked?: boolean;
}

const fileFacts: Readonly<Record<string, (file: KnownFile) => JsonValue>> = {
  'file.name': (file) => file.fileName,
  'file.extension': (file) => parse(file.fileName).ext.slice(1).toLowerCase(),
  'file.mimeType': (file) => (file.mimeType.split(';', 1)[0] ?? '').trim().toLowerCase(),
  'file.size': (file) => file.size,
};

/** Fields that follow from others. */
const derived: Readonly<Record<string, (meta: Meta) => JsonValue | undefined>> = {
  megapixels: (meta) => ofSides(meta, (width, height) => (width * height) / 1e6),
  aspectRatio: (meta) => ofSides(meta, (width, height) => width / height),
};

type Meta = NonNullable<KnownFile['meta']>;

const ofSides = ({ width, height }: Meta, of: (width: number, height: number) => number): number | undefined =>
  typeof width === 'number' && typeof height === 'number' ? of(width, height) : undefined;

/** Those that the header of a picture tells; width and height are those of the upright picture. */
export const headerFields = ['width', 'height', 'format', 'pages', 'hasAlpha', 'orientation'] as const;

/** For messages. */
export const knownFields = [
  ...Object.keys(fileFacts),
  ...[...headerFields, ...Object.keys(derived)].map((name) => `meta.${name}`),
];

export const isField = (field: string): boolean =>
  Object.hasOwn(fileFacts, field) || /^meta\.[A-Za-z][A-Za-z0-9_]{0,63}$/.test(field) || isParam(field);

/** Whether the field is one of the job's start parameters, or a part of one. */
export const isParam = (field: string): boolean => /^params(\.[\w-]{1,64}){1,5}$/.test(field);

/** The names that lead to it, without `params`. */
export const paramPath = (field: string): readonly string[] => field.split('.').slice(1);

/** Compared without regard to case. */
export const isFolded = (field: string): boolean => field === 'file.extension' || field === 'file.mimeType';

/**
 * The value of a field. `missing`: the file has none. `unknown`: its header must be read first, which only pictures
 * have.
 */
export const factOf = (file: KnownFile, field: string): { readonly value: JsonValue } | 'missing' | 'unknown' => {
  const read = Object.hasOwn(fileFacts, field) ? fileFacts[field] : undefined;
  if (read !== undefined) return { value: read(file) };
  if (isParam(field)) return known(lookUp(paramPath(field), file.params ?? {})) ?? 'missing';
  const name = field.slice('meta.'.length);
  const value = known(metaOf(file, name));
  if (value !== undefined) return value;
  const mayTell = !file.looked && file.mimeType.startsWith('image/');
  return mayTell && isInHeader(name) ? 'unknown' : 'missing';
};

const known = (value: JsonValue | undefined) => (value === undefined || value === null ? undefined : { value });

const metaOf = ({ meta = {}, mimeType }: KnownFile, name: string): JsonValue | undefined => {
  if (Object.hasOwn(meta, name)) return meta[name];
  // What the picture is to the flow, however it may be kept on disk.
  if (name === 'format') return formatOf(mimeType);
  return Object.hasOwn(derived, name) ? derived[name]?.(meta) : undefined;
};

const isInHeader = (name: string): boolean =>
  Object.hasOwn(derived, name) || headerFields.some((field) => field === name);
