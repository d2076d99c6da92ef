#!/usr/bin/env node
/** The command `sluice`: in a clone Node runs the source as it is, in the package what was compiled of it. */
import { existsSync } from 'node:fs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  const remedy = 'In a clone, "npx sluice" brings the right one.';
  process.stderr.write(`sluice needs Node 24.12 or newer, and this is ${process.versions.node}. ${remedy}\n`);
  process.exit(1);
}
const source = new URL('../src/cli/sluice.ts', import.meta.url);
await import((existsSync(source) ? source : new URL('../dist/cli/sluice.js', import.meta.url)).href);
