/** Sends files as users do: into a running service, as uploads for a flow, and waits for the end of each job. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, download, ended, patch, startFlow } from '../support/api.ts';
import { startService } from '../support/running-service.ts';
import type { CorpusFile } from './files.ts';

/** Milliseconds for one job. */
const jobLimit = 60_000;

/** How many jobs there are at a time. */
const atOnce = 4;

/** What a job may end with, beside being done. */
const fair = new Set(['INVALID_INPUT', 'UNSUPPORTED_FORMAT', 'FILE_TOO_LARGE']);

const flow = {
  flowId: 'corpora',
  name: 'Corpora',
  timeout: jobLimit / 2,
  nodes: {
    file: { type: 'file-input' },
    wide: { type: 'conditional', options: { conditions: [{ field: 'meta.width', operator: 'gt', value: 100 }] } },
    small: { type: 'resize', options: { width: 100 } },
    web: { type: 'optimize', options: { format: 'webp' } },
    turned: { type: 'rotate', options: { angle: 90 } },
  },
  edges: [
    { source: 'file', target: 'wide' },
    { source: 'wide', sourceHandle: 'true', target: 'small' },
    { source: 'small', target: 'web' },
    { source: 'wide', sourceHandle: 'false', target: 'turned' },
  ],
};

export interface ServiceReport {
  readonly counts: string;
  readonly problems: readonly string[];
}

export const checkService = async (files: readonly CorpusFile[]): Promise<ServiceReport> => {
  const place = await mkdtemp(join(tmpdir(), 'sluice-corpora-'));
  await writeFile(join(place, 'corpora.json'), JSON.stringify(flow));
  const service = await startService({ DATA_DIR: join(place, 'data'), FLOWS_DIR: place, WORKERS: '2' });
  const problems: string[] = [];
  const codes: string[] = [];
  try {
    const waiting = files.values();
    const drive = async () => {
      for (const file of waiting) {
        const code = await sendFile(service.url, file).catch((error: unknown) => String(error));
        codes.push(code);
        if (code !== 'ok' && !fair.has(code)) problems.push(`service, ${file.corpus}/${file.name}: ${code}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, drive));
    const { status } = await call(service.url, 'GET', '/api/flow/corpora');
    if (status !== 200) problems.push(`the service answers ${status} afterwards`);
  } finally {
    const exit = await service.stop();
    if (exit !== 0) problems.push(`the service has ended with ${exit}:\n${service.output()}`);
    await rm(place, { recursive: true, force: true });
  }
  const counted = [...Map.groupBy(codes, (code) => code)].map(([code, all]) => `${code} ${all.length}`);
  return { counts: counted.toSorted().join(', '), problems };
};

/** `ok`, or the code with which its upload or job has ended. */
const sendFile = async (url: string, file: CorpusFile): Promise<string> => {
  const bytes = await readFile(file.path);
  const described = { name: file.fileName, type: file.mimeType, size: bytes.length };
  const { jobId, uploadId } = await startFlow(url, 'corpora', 'file', described);
  if (bytes.length > 0) {
    const sent = await patch(url, uploadId, bytes);
    if (sent.status !== 200) return sent.body.code;
  }
  const job = await ended(url, jobId, jobLimit);
  if (job.status !== 'completed') return job.error?.code ?? job.status;
  for (const output of Object.values<{ readonly url: string; readonly size: number }>(job.outputs)) {
    const { length } = await download(url, output.url);
    if (length !== output.size) return `an output of ${output.size} bytes has ${length}`;
  }
  return 'ok';
};
