/** What Redis has answered, as the type that it must have. */

const unexpected = (reply: unknown): Error =>
  new TypeError(`Redis has answered ${JSON.stringify(reply)?.slice(0, 100)}`);

export const list = (reply: unknown): readonly unknown[] => {
  if (Array.isArray(reply)) return reply;
  throw unexpected(reply);
};

export const text = (reply: unknown): string => {
  if (typeof reply === 'string') return reply;
  throw unexpected(reply);
};

export const texts = (reply: unknown): readonly string[] => list(reply).map(text);

/** A whole number from 0, whether as a number or as text. */
export const integer = (reply: unknown): number => {
  const number = typeof reply === 'string' && /^\d{1,16}$/.test(reply) ? Number(reply) : reply;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  throw unexpected(reply);
};
