/** Where the committed part of the corpora is; its README tells of the licences. */
import { fileURLToPath } from 'node:url';

export const sampleFolder = fileURLToPath(new URL('sample', import.meta.url));
