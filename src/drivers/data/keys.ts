/** What a key of a data store may be (see the port). */

const segment = /^[A-Za-z0-9._-]+$/;

const isSegment = (text: string): boolean => segment.test(text) && text !== '.' && text !== '..';

/** Whether `text` is a key as the port describes it; what is not one never reaches a store. */
export const isKey = (text: string): boolean => text.split('/').every(isSegment);
