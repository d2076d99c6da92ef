/** The picture that goes over another: its size, its transparency, its place. */
import type { Blend, Gravity, OverlayOptions, Sharp } from 'sharp';
import { loadSharp, type OpenImage } from '../image/open.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Pixels of red, green, blue, alpha. */
export interface Overlay extends Size {
  readonly pixels: Buffer;
}

export interface Placement {
  readonly gravity: Gravity;
  /** Pixels, or percent of the side; they decide in place of `gravity`. */
  readonly left?: number | string;
  readonly top?: number | string;
  readonly tile: boolean;
  readonly blend: Blend;
}

/** A picture of that share of the width of `base`; smaller where its height would not fit. */
export const scalePicture = async (picture: OpenImage, base: Size, scale: number): Promise<Overlay> => {
  const across = base.width * scale;
  const factor = Math.min(across / picture.width, base.height / picture.height);
  const side = (length: number, most: number) => Math.min(most, Math.max(1, Math.round(length * factor)));
  const size = { width: side(picture.width, base.width), height: side(picture.height, base.height) };
  const pixels = await picture
    .decode('first')
    .resize({ ...size, fit: 'fill' })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer();
  return { pixels, ...size };
};

/** Makes it so much more transparent, 0 to 1. */
export const fade = (overlay: Overlay, opacity: number): Overlay => {
  if (opacity === 1) return overlay;
  const pixels = Buffer.from(overlay.pixels);
  for (let at = 3; at < pixels.length; at += 4) pixels[at] = Math.round((pixels[at] ?? 0) * opacity);
  return { ...overlay, pixels };
};

/** The pipeline with the overlay in its place: in every frame where there are several. */
export const putOver = async (
  base: Sharp,
  frame: Size,
  overlay: Overlay,
  placement: Placement,
  isAnimated: boolean,
): Promise<Sharp> => {
  const layer = layerOf(overlay, placement, frame);
  if (!isAnimated) return base.composite([{ ...layer, blend: placement.blend }]);
  // To sharp the frames are one tall picture: a layer of the size of one repeats down all of them.
  const sharp = await loadSharp();
  const canvas = sharp({ create: { ...sized(frame), channels: 4, background: '#00000000' } });
  const whole = { ...sized(frame), pixels: await canvas.composite([layer]).raw().toBuffer() };
  return base.composite([{ ...rawOf(whole), tile: true, gravity: 'northwest', blend: placement.blend }]);
};

const sized = ({ width, height }: Size): Size => ({ width, height });

const rawOf = ({ pixels, width, height }: Overlay): OverlayOptions => ({
  input: pixels,
  raw: { width, height, channels: 4 },
});

const layerOf = (overlay: Overlay, { gravity, left, top, tile }: Placement, frame: Size): OverlayOptions => {
  const layer = rawOf(overlay);
  if (tile) return { ...layer, tile, gravity };
  if (left === undefined && top === undefined) return { ...layer, gravity };
  return {
    ...layer,
    left: offset(left ?? 0, frame.width, overlay.width),
    top: offset(top ?? 0, frame.height, overlay.height),
  };
};

/** Pixels from the edge; as near to the wish as the overlay still lies within the picture. */
const offset = (wanted: number | string, whole: number, part: number): number => {
  const pixels = typeof wanted === 'number' ? wanted : Math.round((Number.parseFloat(wanted) / 100) * whole);
  return Math.min(pixels, whole - part);
};
