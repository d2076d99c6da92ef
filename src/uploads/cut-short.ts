/** What a request is told whose body did not come to its end, or whose upload was taken over. */
import { ServiceError } from '../domain/errors.ts';
import type { UploadRecord } from '../domain/upload.ts';
import type { Owner } from '../ports/owners.ts';
import type { Received } from './receive.ts';

/** Throws unless the body came to its end. */
export const requireWhole = (received: Received, owner: Owner, upload: UploadRecord): void => {
  if (received.ending !== 'end') throw cutShort(received, owner, upload);
};

/** `upload`: as it was recorded last; its offset is where the client goes on. */
export const cutShort = ({ ending }: Received, owner: Owner, upload: UploadRecord): ServiceError => {
  if (owner.stopped === 'displaced' || ending === 'silent') {
    return new ServiceError('INVALID_OFFSET', 'Another request has taken over this upload', {
      details: { 'expected-offset': upload.offset },
    });
  }
  const text = ending === 'stopped' ? 'The service is shutting down' : 'The body ended early';
  return new ServiceError('UNAVAILABLE', `${text}; the upload is at offset ${upload.offset}`, { retryAfter: 1 });
};
