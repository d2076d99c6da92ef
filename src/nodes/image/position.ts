/** Where in a larger frame a smaller one lies, in sharp's words. */

const positions = [
  'centre',
  'top',
  'right top',
  'right',
  'right bottom',
  'bottom',
  'left bottom',
  'left',
  'left top',
] as const;

/** Found by looking at the picture. */
const smart = ['entropy', 'attention'] as const;

/** What options may name. */
export const cropPositions = [...positions, ...smart] as const;

/** libvips looks for the best part of single pictures only: of an animation the first frame is left. */
export const isSmart = (position: string): boolean => smart.some((strategy) => strategy === position);
