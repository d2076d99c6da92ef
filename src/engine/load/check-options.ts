/**
 * The checks of a node's options. What holds a template has its value only in a job, where `ports/node-options` checks
 * it; everything else is checked here, as if the templates were right.
 */
import { type TObject, Type } from 'typebox';
import type { ParamsSchema } from '../../domain/params.ts';
import { checkTemplates, hasTemplate } from '../../domain/template.ts';
import type { NodeDescription } from '../../ports/node.ts';
import { phraseProblem, schemaProblems } from '../../ports/schema-problems.ts';
import type { Problem } from './flow-problem.ts';
import { optionsSchema } from './flow-schema.ts';

type Options = Readonly<Record<string, unknown>>;

/** The options that hold a template, by name. */
export const templatedOptions = (options: Options): readonly string[] =>
  Object.keys(options).filter((name) => hasTemplate(options[name]));

/** The problems of the options of one node, with paths inside of the options. */
export const optionProblems = (
  options: Options,
  kind: NodeDescription,
  params: ParamsSchema | undefined,
): readonly Problem[] => {
  const templated = templatedOptions(options);
  const problems = [
    ...schemaProblems(openSchema(kind, templated), options).map((problem) => ({
      path: problem.path,
      message: phraseProblem(problem, 'option', problem.path),
    })),
    ...(templated.length === 0 ? [] : templateProblems(options, kind, params)),
  ];
  if (problems.length > 0 || templated.length > 0) return problems;
  const message = kind.check?.(options, { params });
  const [name = ''] = message?.split(/\W/, 1) ?? [];
  return message === undefined ? [] : [{ path: [name], message: `options: ${message}` }];
};

/** The schema of the options that takes anything for those that hold a template. */
const openSchema = (kind: NodeDescription, templated: readonly string[]): TObject => {
  const schema = optionsSchema(kind);
  const open = templated.filter((name) => Object.hasOwn(schema.properties, name)).map((name) => [name, Type.Unknown()]);
  return { ...schema, properties: { ...schema.properties, ...Object.fromEntries(open) } };
};

const templateProblems = (options: Options, kind: NodeDescription, params: ParamsSchema | undefined): Problem[] => {
  if (kind.plainOptions === true) {
    const message = `${kind.kind} takes no templates: its options are needed before there is a job`;
    return templatedOptions(options).map((name) => ({ path: [name], message: `option "${name}": ${message}` }));
  }
  const files = kind.role !== 'input';
  return checkTemplates(options, { params, files }).map(({ path, message }) => ({
    path,
    message: `option "${path.join('.')}" ${message}`,
  }));
};
