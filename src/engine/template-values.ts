/** What templates may name in every node of a job; the node itself, and facts of files, come where a node runs. */
import type { FlowDefinition } from '../domain/flow.ts';
import type { JobRecord } from '../domain/job.ts';
import type { TemplateValues } from '../domain/template.ts';

/** The values of a job. The date is that of its creation, in UTC, so that a retry makes the same of it. */
export const templateValues = (
  flow: FlowDefinition,
  { id, clientId, params = {}, createdAt }: Pick<JobRecord, 'id' | 'clientId' | 'params' | 'createdAt'>,
): TemplateValues => {
  const [yyyy = '', mm = '', dd = ''] = createdAt.slice(0, 'yyyy-mm-dd'.length).split('-');
  return {
    flow: { id: flow.flowId, name: flow.name },
    job: { id },
    params,
    date: { yyyy, mm, dd },
    ...(clientId === undefined ? {} : { client: { id: clientId } }),
  };
};
