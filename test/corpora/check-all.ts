/** Checks many files, two at a time, and counts. */
import { type Checked, checkFile } from './check.ts';
import type { CorpusFile } from './files.ts';
import { type Lane, openLane } from './lane.ts';

export interface Report {
  readonly checked: readonly Checked[];
  readonly problems: readonly string[];
}

/** `lanes` children at a time; `told` hears of each file as it is done. */
export const checkAll = async (
  files: readonly CorpusFile[],
  lanes: number,
  told: (checked: Checked) => void = () => {},
): Promise<Report> => {
  const waiting = files.values();
  const checked: Checked[] = [];
  const problems: string[] = [];
  const drive = async (lane: Lane) => {
    for (const file of waiting) {
      const one = await checkFile(lane, file).catch((error: unknown) => failed(file, error));
      checked.push(one);
      problems.push(...one.problems.map((problem) => `${file.corpus}/${file.name}: ${problem}`));
      told(one);
    }
    problems.push(...lane.died.map((error) => `a child died between two tasks: ${error.message}`));
  };
  const open = Array.from({ length: lanes }, openLane);
  try {
    await Promise.all(open.map(drive));
  } finally {
    await Promise.all(open.map((lane) => lane.close()));
  }
  return { checked, problems };
};

const failed = (file: CorpusFile, error: unknown): Checked => ({
  file,
  outcomes: {},
  problems: [error instanceof Error ? error.message : String(error)],
  took: 0,
  peak: 0,
});

/** How often each code came, by corpus; `ok` first. */
export const countsOf = (checked: readonly Checked[]): readonly string[] => {
  const corpora = Map.groupBy(checked, ({ file }) => file.corpus);
  return [...corpora].map(([corpus, own]) => {
    const codes = Map.groupBy(
      own.flatMap(({ outcomes }) => Object.values(outcomes)),
      (code) => code,
    );
    const counts = [...codes].map(([code, all]) => `${code} ${all.length}`).toSorted(okFirst);
    return `${corpus}: ${own.length} files; ${counts.join(', ')}`;
  });
};

const okFirst = (left: string, right: string): number =>
  Number(right.startsWith('ok ')) - Number(left.startsWith('ok ')) || left.localeCompare(right);

/** The files that took longest, and those that took most memory. */
export const extremesOf = (checked: readonly Checked[], count: number): readonly string[] => [
  ...checked
    .toSorted((left, right) => right.took - left.took)
    .slice(0, count)
    .map((one) => `${nameOf(one)}: ${(one.took / 1000).toFixed(1)} s`),
  ...checked
    .toSorted((left, right) => right.peak - left.peak)
    .slice(0, count)
    .map((one) => `${nameOf(one)}: ${Math.round(one.peak / 2 ** 20)} MiB`),
];

const nameOf = ({ file }: Checked): string => `${file.corpus}/${file.name}`;
