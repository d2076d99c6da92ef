/** What a client's uploads take up, and how much they may (WIRE 7, `QUOTA_EXCEEDED`). */
import { ServiceError } from './errors.ts';
import { isSettled, type UploadRecord, type Usage } from './upload.ts';

/** What one client may take up; absent: as much as it likes. */
export type Quota = { readonly [K in keyof Usage]?: number | undefined };

/** A change of a client's counters, written together with the record that it comes from. */
export interface UsageChange {
  readonly clientId: string | undefined;
  readonly delta: Usage;
  /** What the counters must not pass by growing. */
  readonly quota: Quota;
}

export const noUsage: Usage = { openUploads: 0, storedBytes: 0 };

/** What an upload takes up. */
export const usageOf = (upload: UploadRecord): Usage => ({
  openUploads: isSettled(upload) ? 0 : 1,
  storedBytes: upload.bytesRemoved === true ? 0 : (upload.size ?? upload.offset),
});

/** The way from what is counted for an upload to what it takes up now; `undefined` when that is the same. */
export const usageDelta = (counted: Usage, usage: Usage): Usage | undefined => {
  const openUploads = usage.openUploads - counted.openUploads;
  const storedBytes = usage.storedBytes - counted.storedBytes;
  return openUploads === 0 && storedBytes === 0 ? undefined : { openUploads, storedBytes };
};

/** Throws `QUOTA_EXCEEDED` when a counter would grow past its limit; what shrinks or stays is never refused. */
export const requireWithin = (used: Usage, { delta, quota }: Pick<UsageChange, 'delta' | 'quota'>): void => {
  for (const name of ['openUploads', 'storedBytes'] as const) {
    const max = quota[name];
    if (max !== undefined && delta[name] > 0 && used[name] + delta[name] > max) throw quotaExceeded(name, max, used);
  }
};

/** 403 for open uploads, 413 for stored bytes (WIRE 7). */
export const quotaExceeded = (limit: keyof Usage, max: number, { [limit]: used }: Usage): ServiceError => {
  const [status, text] =
    limit === 'openUploads'
      ? [403, `${used} uploads are open, and at most ${max} may be`]
      : [413, `${used} bytes are stored or promised, and at most ${max} may be`];
  return new ServiceError('QUOTA_EXCEEDED', text, { status, details: { limit, max, used } });
};
