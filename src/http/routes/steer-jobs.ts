/** What a client may do about its job (WIRE 3): each is a POST without a body that answers with the record. */
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox';
import type { HttpContext } from '../context.ts';
import { answers, jobParams } from '../schemas/common.ts';
import { jobSchema } from '../schemas/flow.ts';
import { viewJob } from '../views.ts';

export const steerJobRoutes: FastifyPluginCallbackTypebox<HttpContext> = (app, context, done) => {
  const { engine } = context;
  const actions = {
    cancel: { summary: 'Cancel a job', act: engine.cancel },
    pause: { summary: 'Stop a job for a while: what runs comes to its end', act: engine.pause },
    resume: { summary: 'Let a job go on that was stopped', act: engine.unpause },
    retry: { summary: 'Try a failed job again from its last finished nodes', act: engine.retry },
  };
  for (const [name, { summary, act }] of Object.entries(actions)) {
    app.post(
      `/api/jobs/:jobId/${name}`,
      { schema: { tags: ['flows'], summary, params: jobParams, response: answers({ 200: jobSchema }) } },
      async (request) => viewJob(context, await act(request.params.jobId, request.clientId)),
    );
  }
  done();
};
