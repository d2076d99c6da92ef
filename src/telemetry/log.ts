/** The structured log: JSON lines on standard output. */
import { destination, type Logger, pino } from 'pino';

/** `level`: the least severe one that is written. */
export const createLog = (level: string): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination({ sync: false }),
  );
