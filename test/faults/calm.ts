import type { Replicas } from '../support/replicas.ts';
import { Wrong } from './transfer.ts';

/** What is lost or does not answer is no reason to log a mistake; that it does not answer may be told. */
export const requireCalm = ({ all }: Replicas): void => {
  const lines = all.flatMap(({ output }) => output().split('\n'));
  const wrong = lines.filter((line) => /"level":"(error|fatal)"/.test(line) && !line.includes('"code":"UNAVAILABLE"'));
  if (wrong.length > 0) throw new Wrong(wrong.join('\n'));
};
