/** Colours in options are hexadecimal, so that a mistake shows when the flow is loaded. */

/** A pattern for option schemas: `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa`. */
export const hexColour = '^#([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$';

/** How opaque the colour is, 0 to 1. */
export const alphaOf = (colour: string): number => {
  const digits = colour.length <= 5 ? colour.slice(4, 5).repeat(2) : colour.slice(7);
  return digits === '' ? 1 : Number.parseInt(digits, 16) / 255;
};

/** The colour as it looks on white paper, for formats without transparency. */
export const overWhite = (colour: string): string => {
  const digits = colour.slice(1);
  const long = digits.length < 6 ? [...digits].map((digit) => digit + digit).join('') : digits;
  const [red = 0, green = 0, blue = 0, alpha = 255] = [...Buffer.from(long, 'hex')];
  const mixed = [red, green, blue].map((value) => Math.round(255 + ((value - 255) * alpha) / 255));
  return `#${Buffer.from(mixed).toString('hex')}`;
};
