/**
 * Addresses of files that carry their own permission (WIRE 2): whoever has one may read that file until it ends, and
 * nothing else. `expires` is in seconds since 1970, `signature` the HMAC-SHA-256, in base64url, of the scope, the path
 * below the base and the end, a line each.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedFilesOptions {
  /** The same for all replicas. Addresses that were signed with another one work no more. */
  readonly secret: string;
  /** Milliseconds for which an address works. */
  readonly ttl: number;
  readonly clock: { now(): number };
}

/** The part of a query that matters here. */
export interface SignedQuery {
  readonly expires?: string | undefined;
  readonly signature?: string | undefined;
}

export interface SignedFiles {
  /** The query of a file's address, with its question mark. */
  sign(fileId: string): string;
  /** Whether this service has signed that file's address, and it has not ended. */
  holds(fileId: string, query: SignedQuery): boolean;
}

/** What an address is for, so that no signature can be used for anything else. */
const scope = 'file:read';

export const createSignedFiles = ({ secret, ttl, clock }: SignedFilesOptions): SignedFiles => {
  const signatureOf = (fileId: string, expires: string): Buffer =>
    createHmac('sha256', secret).update(`${scope}\n/api/files/${fileId}\n${expires}`).digest();
  return {
    sign(fileId) {
      const expires = String(Math.ceil((clock.now() + ttl) / 1000));
      return `?expires=${expires}&signature=${signatureOf(fileId, expires).toString('base64url')}`;
    },
    holds(fileId, { expires = '', signature = '' }) {
      const given = Buffer.from(signature, 'base64url');
      const expected = signatureOf(fileId, expires);
      const isTrue = given.length === expected.length && timingSafeEqual(given, expected);
      return isTrue && Number(expires) * 1000 > clock.now();
    },
  };
};
