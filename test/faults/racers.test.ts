/** Many requests at one offset (WIRE 1, rule 5): of each crowd one is accepted, whole. */
import t from 'tap';
import { startService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { type ErrorBody, sampleBytes, sha256, uploadClient } from '../support/upload-client.ts';

const service = await startService({ DATA_DIR: await temporaryDirectory(t), WORKERS: '0' });
t.teardown(() => service.stop());
const uploads = uploadClient(service.url);

const rounds = 100;
const racers = 50;
/** Bytes of each payload. */
const length = 1000;

/** No two are the same anywhere. */
const payloads = Array.from({ length: racers }, (_, racer) => sampleBytes(length).map((byte) => (byte + racer) & 0xff));

/** Whether the answer is one that a loser of the race may get. */
const isRefusal = async (response: Response): Promise<boolean> => {
  const { code } = (await response.json()) as ErrorBody;
  return (
    (response.status === 409 && code === 'INVALID_OFFSET') || (response.status === 423 && code === 'UPLOAD_LOCKED')
  );
};

/** All send at once; the payload that was accepted, if it was exactly one and the others know it. */
const race = async (id: string, round: number): Promise<Uint8Array> => {
  const offset = round * length;
  // The first has an advantage, so that is another one each time.
  const runners = payloads.map((_, place) => payloads[(place + round) % racers] ?? Buffer.alloc(0));
  const responses = await Promise.all(runners.map((payload) => uploads.patch(id, payload, { offset })));
  const accepted = responses.flatMap(({ status }, place) => (status === 200 ? [place] : []));
  const refused = await Promise.all(responses.filter(({ status }) => status !== 200).map(isRefusal));
  const [winner = -1] = accepted;
  if (accepted.length !== 1 || refused.includes(false)) {
    throw new Error(`at ${offset}: ${responses.map(({ status }) => status).join(' ')}`);
  }
  return runners[winner] ?? Buffer.alloc(0);
};

void t.test(`${racers} racers on one offset, ${rounds} times`, async (t) => {
  const { id } = await uploads.create({ size: rounds * length });
  const won: Uint8Array[] = [];
  for (let round = 0; round < rounds; round += 1) won.push(await race(id, round));
  t.match(await uploads.get(id), { status: 'completed', offset: rounds * length });
  t.equal(sha256(await uploads.download(id)), sha256(Buffer.concat(won)));
});
