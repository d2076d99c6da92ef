/** The log of events of an upload, over all lives of the service that have written to it. */
import { openEvents } from '../support/event-socket.ts';

/** What is wrong with what a completed upload has told: it must be in order, with one beginning and one end. */
export const findStoryProblem = async (url: string, id: string): Promise<string | undefined> => {
  const events = openEvents(url, `/ws/upload/${id}`);
  await events.until('upload_complete');
  // The answer comes after everything that there is to tell.
  events.socket.send(JSON.stringify({ type: 'ping' }));
  await events.until('pong');
  events.socket.terminate();
  const told = events.frames.slice(1).filter(({ type }) => type !== 'pong');
  const types = told.map(({ type }) => type);
  const count = (wanted: string): number => types.filter((type) => type === wanted).length;
  if (count('upload_started') !== 1 || count('upload_complete') !== 1) return `it tells ${types.join(', ')}`;
  const numbers = told.map(({ seq }) => seq);
  const inOrder = numbers.every((number, index) => number > (numbers[index - 1] ?? 0));
  return inOrder ? undefined : `it is numbered ${numbers.join(', ')}`;
};
