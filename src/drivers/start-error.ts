/** Why the service does not start with what it was given; the message is for whoever started it and says all. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
