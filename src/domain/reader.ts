/** Who reads a file: the client that it must belong to, or `anyone` who has an address that the service has signed. */
export type Reader = string | undefined | typeof anyone;

export const anyone: unique symbol = Symbol('anyone');

/** Whether the record is the reader's to see; to others it is as unknown as one that never was. */
export const mayRead = (reader: Reader, { clientId }: { readonly clientId?: string | undefined }): boolean =>
  reader === anyone || reader === clientId;
