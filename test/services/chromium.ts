/** A Chromium to drive. */
import { type Browser, chromium } from 'playwright-core';
import { findProgram } from './debian.ts';

/** The path of the executable, named by CHROMIUM_PATH or found as any other program; see `findProgram`. */
export const findChromium = (): string | undefined => process.env['CHROMIUM_PATH'] ?? findProgram('chromium');

/** Starts it with a fresh profile and without anything that would call home. */
export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
