/** Parts of a picture as options name them, each length in pixels or in percent of the picture's side. */
import { type Static, Type } from 'typebox';

const percent = '(?:100(?:\\.0+)?|[0-9]{1,2}(?:\\.[0-9]+)?)%$';

/** The distance from an edge. */
export const offsetOption = (description: string) =>
  Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: `^${percent}` })], { description });

/** A width or a height, which is never nothing. */
export const lengthOption = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: `^(?=.*[1-9])${percent}` })], { description });

type Length = Static<ReturnType<typeof lengthOption>>;

/** A part of a picture; numbers are pixels of the upright picture. */
export interface Area<Unit = number> {
  readonly left: Unit;
  readonly top: Unit;
  readonly width: Unit;
  readonly height: Unit;
}

type Size = Pick<Area, 'width' | 'height'>;

/** The part in whole pixels. Both edges are rounded, so that parts which meet in percent meet in pixels. */
export const pixelArea = ({ left, top, width, height }: Area<Length>, picture: Size): Area => {
  const across = span(left, width, picture.width);
  const down = span(top, height, picture.height);
  return { left: across.start, width: across.length, top: down.start, height: down.length };
};

const span = (from: Length, length: Length, side: number) => {
  const exact = pixels(from, side);
  const start = Math.round(exact);
  return { start, length: Math.max(1, Math.round(exact + pixels(length, side)) - start) };
};

const pixels = (length: Length, side: number): number =>
  typeof length === 'number' ? length : (Number.parseFloat(length) * side) / 100;

/** What of the area lies within the picture; nothing when it is all outside. */
export const withinPicture = (area: Area, picture: Size): Area | undefined => {
  const width = Math.min(area.left + area.width, picture.width) - area.left;
  const height = Math.min(area.top + area.height, picture.height) - area.top;
  return width > 0 && height > 0 ? { ...area, width, height } : undefined;
};
