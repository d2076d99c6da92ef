/** What replicas tell each other about owners. A message may be lost: then a lease or a deadline does its work later. */

export type Message =
  /** To the replica of an owner: somebody wants the upload, and gives up after `waitMs`; 0: has given up. */
  | {
      readonly type: 'ask';
      readonly id: string;
      readonly ask: 'now' | 'wait';
      readonly who: string;
      readonly waitMs: number;
    }
  /** To those who wait: the upload is free. */
  | { readonly type: 'freed'; readonly id: string };

export const encode = (message: Message): string => JSON.stringify(message);

/** `undefined`: not a message of this version of the service. */
export const decode = (text: string): Message | undefined => {
  try {
    const { type, id, ask, who, waitMs } = JSON.parse(text);
    if (typeof id !== 'string') return undefined;
    if (type === 'freed') return { type, id };
    const asks = type === 'ask' && (ask === 'now' || ask === 'wait') && typeof who === 'string';
    return asks && Number.isFinite(waitMs) ? { type, id, ask, who, waitMs } : undefined;
  } catch {
    return undefined;
  }
};
