/** The addresses that the service writes into its answers. */

export interface Links {
  /** `/` + BASE_PATH, or empty. */
  readonly base: string;
  /** The bytes of an upload or of a job's output. */
  file(fileId: string): string;
  /** For the `Location` header. */
  upload(id: string): string;
  job(id: string): string;
}

/**
 * `baseUrl` is a path, or an absolute address that makes every link absolute. `sign` gives the query that makes a file's
 * address work by itself; default: none is needed.
 */
export const createLinks = (baseUrl: string, sign: (fileId: string) => string = () => ''): Links => {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]+)?(.*)$/.exec(baseUrl) ?? [];
  const trimmed = path.replace(/^\/+|\/+$/g, '');
  const base = trimmed === '' ? '' : `/${trimmed}`;
  const root = `${origin}${base}`;
  return {
    base,
    file: (fileId) => `${root}/api/files/${fileId}${sign(fileId)}`,
    upload: (id) => `${root}/api/upload/${id}`,
    job: (id) => `${root}/api/jobs/${id}/status`,
  };
};

/** The id of a job's output among the files: the job's, a dot, the output's key. */
export const outputFileId = (jobId: string, key: string): string => `${jobId}.${key}`;
