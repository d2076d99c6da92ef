/**
 * The image formats that kinds read and write, and their media types. What a picture is to the flow is its media type;
 * the format follows from it, so that an intermediate may be stored as something else (`encode`).
 */

/** Media types that image kinds take. */
export const imageTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/avif', 'image/gif', 'image/tiff'] as const;

export type ImageType = (typeof imageTypes)[number];

export type ImageFormat = ImageType extends `image/${infer Format}` ? Format : never;

/** What a flow may ask for. GIF and TIFF are only written when they came in and nothing else was asked for. */
export const targetFormats = ['jpeg', 'png', 'webp', 'avif'] as const;

export const typeOf = (format: ImageFormat): ImageType => `image/${format}`;

/** The format of a media type; nothing when no image kind takes it. */
export const formatOf = (mimeType: string): ImageFormat | undefined => {
  const type = imageTypes.find((known) => known === mimeType);
  return type?.slice('image/'.length) as ImageFormat | undefined;
};

/** Formats that keep the frames of an animation. */
export const isAnimatable = (format: ImageFormat): boolean => format === 'gif' || format === 'webp';

/** What a kind delivers that keeps the type of what comes in: of the incoming globs, those of images. */
export const imageGlobs = (incoming: readonly string[]): readonly `image/${string}`[] =>
  incoming.flatMap((glob): `image/${string}`[] => {
    if (glob.startsWith('*/')) return ['image/*'];
    return isImageGlob(glob) ? [glob] : [];
  });

const isImageGlob = (glob: string): glob is `image/${string}` => glob.startsWith('image/');
