/** What a written picture carries beside its pixels. */
import type { Metadata, Sharp } from 'sharp';
import { readExifText } from './exif.ts';
import type { OpenImage } from './open.ts';

/**
 * - `none`: no EXIF (so no GPS position), XMP or IPTC; colours are converted to sRGB and need no profile.
 * - `copyright`: as `none`, but the EXIF fields Copyright and Artist stay.
 * - `all`: EXIF, XMP, IPTC and the colour profile stay.
 */
export const metadataPolicies = ['none', 'copyright', 'all'] as const;

export type MetadataPolicy = (typeof metadataPolicies)[number];

/** Applies the policy to the pipeline. The orientation tag never stays: the pixels are upright already. */
export const keepMetadata = (pixels: Sharp, image: OpenImage, policy: MetadataPolicy): Sharp => {
  if (policy === 'none') return pixels;
  if (policy === 'copyright') return keepCopyright(pixels, image.header);
  // A profile of other colours than RGB would no longer fit what is written.
  const isRgb = image.header.space === 'srgb' || image.header.space === 'rgb16';
  return isRgb ? pixels.keepMetadata() : keepDescription(pixels);
};

/** What tells of the picture, without the colour profile: colours are converted to sRGB, or to greys. */
export const keepDescription = (pixels: Sharp): Sharp => pixels.keepExif().keepXmp();

const keepCopyright = (pixels: Sharp, header: Metadata): Sharp => {
  const { copyright, artist } = readExifText(header.exif);
  if (copyright === undefined && artist === undefined) return pixels;
  return pixels.withExif({
    IFD0: {
      ...(copyright === undefined ? {} : { Copyright: exifValue(copyright) }),
      ...(artist === undefined ? {} : { Artist: exifValue(artist) }),
    },
  });
};

/** libvips takes a last part in parentheses for a comment of its own and drops it: it gets one to drop. */
const exifValue = (text: string): string => `${text} (ASCII)`;

/** Whether the file carries something that the policy does not let through. */
export const carriesMore = (header: Metadata, policy: MetadataPolicy): boolean =>
  policy !== 'all' &&
  [header.exif, header.xmp, header.iptc, header.icc, header.tifftagPhotoshop, header.comments, header.gainMap].some(
    (part) => part !== undefined,
  );
