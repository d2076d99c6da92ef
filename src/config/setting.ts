/** One setting: the environment variable, how its text is read, what it is for. */

export interface Setting<T> {
  /** Environment variable. */
  readonly name: string;
  /** One line for `.env.example` and the docs, with the unit. */
  readonly description: string;
  /** As it would stand in the environment; absent: not set. */
  readonly fallback?: string;
  /** The value, or an `Error` whose message says what the variable must be. */
  read(text: string): T;
  /** May be in a file that `NAME_FILE` names, and is not shown. */
  readonly secret?: true;
  /** Without a value and without a fallback the setting is `undefined`. */
  readonly optional: boolean;
  /** Other variables that are read when this one is not set, the first one first. */
  readonly aliases?: readonly string[];
}

type Described = {
  readonly name: string;
  readonly description: string;
  readonly fallback: string;
  readonly aliases?: readonly string[];
};

/** Any text that is not empty. */
export const text = (described: Described): Setting<string> => ({
  ...described,
  optional: false,
  read: (value) => value,
});

/** Text that is nobody else's to read. */
export const secret = (described: Described): Setting<string> => ({ ...text(described), secret: true });

/** A secret that others must not be able to guess from what was signed with it. */
export const key = (described: Described): Setting<string> => ({
  ...secret(described),
  read(value) {
    if (value.length >= 32) return value;
    throw new Error('must have 32 characters or more');
  },
});

/** A setting that may be left out, and is `undefined` then: `optional(text, {...})`. */
export const optional = <D extends Described, T>(
  kind: (described: D) => Setting<T>,
  described: Omit<D, 'fallback'>,
): Setting<T | undefined> => {
  const { fallback: _, ...setting } = kind({ ...described, fallback: '' } as D);
  return { ...setting, optional: true };
};

/** Several texts with commas between them. */
export const list = (described: Described): Setting<readonly string[]> => ({
  ...described,
  optional: false,
  read: (value) =>
    value
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
});

/** A whole number within bounds. */
export const whole = (described: Described & { readonly min: number; readonly max: number }): Setting<number> => ({
  ...described,
  optional: false,
  read(value) {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= described.min && number <= described.max) return number;
    throw new Error(`must be a whole number from ${described.min} to ${described.max}`);
  },
});

const units: Readonly<Record<string, number>> = { '': 1, b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 };

/** A number of bytes: digits, or digits with KiB, MiB, GiB, TiB. */
export const bytes = (described: Described): Setting<number> => ({
  ...described,
  optional: false,
  read(value) {
    const [, digits = '', unit = ''] = /^(\d{1,16})\s*([a-z]*)$/i.exec(value) ?? [];
    const size = Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN);
    if (digits !== '' && Number.isSafeInteger(size)) return size;
    throw new Error('must be a number of bytes, such as 5368709120 or 5GiB');
  },
});

const durations: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What a timer can hold, milliseconds: not quite 25 days. */
const longestTimer = 2 ** 31 - 1;

/** A duration in milliseconds: digits with ms, s, m, h or d. `max`, by default the longest timer, is for deadlines. */
export const duration = ({
  max = longestTimer,
  ...described
}: Described & { readonly max?: number }): Setting<number> => ({
  ...described,
  optional: false,
  read(value) {
    const [, digits = '', unit = ''] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(value) ?? [];
    const ms = Number(digits) * (durations[unit] ?? Number.NaN);
    if (ms > 0 && ms <= max) return ms;
    const days = Math.floor(max / 86_400_000);
    throw new Error(`must be a duration of at most ${days} days, such as 500ms, 30s, 10m or 1d`);
  },
});

/** One of several words. */
export const choice = <const W extends string>(
  described: Described & { readonly words: readonly W[] },
): Setting<W> => ({
  ...described,
  optional: false,
  read(value) {
    const word = described.words.find((one) => one === value);
    if (word !== undefined) return word;
    throw new Error(`must be one of ${described.words.join(', ')}`);
  },
});

/** `on` or `off`. */
export const onOff = (described: Described): Setting<boolean> => ({
  ...described,
  optional: false,
  read(value) {
    if (value === 'on' || value === 'off') return value === 'on';
    throw new Error('must be on or off');
  },
});

/** An absolute http or https address without path. */
export const origin = (described: Omit<Described, 'fallback'>): Setting<string | undefined> => ({
  ...described,
  optional: true,
  read(value) {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '')
      return url.origin;
    throw new Error('must be an address such as https://files.example.org, without a path');
  },
});

/** Where Redis is; its password makes it a secret. */
export const redisAddress = (described: Described): Setting<string> => ({
  ...described,
  optional: false,
  secret: true,
  read(value) {
    const { protocol, hostname, pathname } = URL.canParse(value) ? new URL(value) : new URL('about:blank');
    if (/^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname)) return value;
    throw new Error('must be an address such as redis://user:password@host:6379/0, or rediss:// for TLS');
  },
});

/** Hosts with their ports, with commas between them. */
export const hosts = (described: Described): Setting<readonly { readonly host: string; readonly port: number }[]> => ({
  ...described,
  optional: false,
  read: (value) =>
    list(described)
      .read(value)
      .map((one) => {
        const [, host = '', port = ''] = /^\[?([^\s/@]+?)\]?:(\d{1,5})$/.exec(one) ?? [];
        if (host !== '' && Number(port) < 65_536) return { host, port: Number(port) };
        throw new Error('must be hosts with ports, such as one.example.org:26379,two.example.org:26379');
      }),
});
