/** Files that whoever runs the service has put into a storage for its flows: logos and the like. */

/** A pattern of keys for option schemas: below `assets/`, and no way out of it. */
export const assetKey = '^assets/([A-Za-z0-9_-][A-Za-z0-9._-]{0,99}/){0,8}[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$';

const pattern = new RegExp(assetKey);

export const isAssetKey = (value: unknown): value is string => typeof value === 'string' && pattern.test(value);
