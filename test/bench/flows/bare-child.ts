/** One process of `bare`: makes one picture for each number that it is told. */
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { recipes } from './recipes.ts';

const [directory = '', file = '', name = ''] = process.argv.slice(2);
const recipe = recipes[name as keyof typeof recipes];

// All as the workers of the service have it.
sharp.concurrency(1);
sharp.cache(false);
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

process.on('message', (index: number) => {
  void recipe(file, join(directory, `${index}.webp`)).then(() => process.send?.(index));
});
process.on('disconnect', () => process.exit());
