/** An encoder can make a file larger. When it may, the node hands on the bytes that came in instead. */
import { constants, copyFile, stat } from 'node:fs/promises';
import type { NodeOutput } from '../../ports/node.ts';
import { carriesMore, type MetadataPolicy } from './metadata.ts';
import type { OpenImage } from './open.ts';

/**
 * Whether the original is smaller than `encoded` and may stand in its place: it is of the same format, upright, has
 * the same frames, and carries nothing that the policy takes out. So a picture with EXIF is always written anew.
 */
export const isBetterKept = async (image: OpenImage, encoded: NodeOutput, policy: MetadataPolicy): Promise<boolean> => {
  const { header, stored } = image;
  if (stored !== encoded.meta['format'] || (header.orientation ?? 1) !== 1) return false;
  if ((header.pages ?? 1) !== encoded.meta['pages'] || carriesMore(header, policy)) return false;
  const [before, after] = await Promise.all([stat(image.file.path), stat(encoded.path)]);
  return before.size < after.size;
};

/** Puts the original in the place of `encoded`. */
export const keepOriginal = async (image: OpenImage, encoded: NodeOutput): Promise<NodeOutput> => {
  await copyFile(image.file.path, encoded.path, constants.COPYFILE_FICLONE);
  return { ...encoded, meta: { ...encoded.meta, hasAlpha: image.header.hasAlpha } };
};
