import { ServiceError } from '../../domain/errors.ts';
import type { FlowDefinition } from '../../domain/flow.ts';
import { type ParamSchema, type Params, paramAt } from '../../domain/params.ts';
import type { JsonValue } from '../../domain/upload.ts';
import { readParams as checkParams } from '../../engine/params.ts';
import { splitPair, UsageError } from '../command.ts';

/** The start parameters from `key=value`, each as the type that the flow wants: all but text is written as JSON. */
export const readParams = (flow: FlowDefinition, pairs: readonly string[]): Params => {
  const given = pairs.map((pair) => {
    const [key, text] = splitPair(pair, '--param key=value');
    return [key, readValue(flow.params && paramAt(flow.params, [key]), text)] as const;
  });
  const params = Object.fromEntries(given);
  try {
    checkParams(flow, params);
    return params;
  } catch (error) {
    // It speaks of the request that would have started the job.
    if (error instanceof ServiceError) throw new UsageError(error.message.replaceAll(/body\.params[. ]/g, '--param '));
    throw error;
  }
};

/** What is not of the type stays text, and is refused as such. */
const readValue = (schema: ParamSchema | 'any' | undefined, text: string): JsonValue => {
  if (schema === undefined || schema === 'any' || schema.type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
