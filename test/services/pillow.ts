/** A Python that has Pillow, the imaging library that pictures are checked against. */
import { spawnSync } from 'node:child_process';
import { findOrInstall, onPath } from './debian.ts';

/** The path of the interpreter; see `findProgram`. Another Python may come first and not see Debian's packages. */
export const findPillow = (): string | undefined =>
  findOrInstall('python3-pil', () =>
    onPath('python3').find((python) => spawnSync(python, ['-c', 'import PIL']).status === 0),
  );
