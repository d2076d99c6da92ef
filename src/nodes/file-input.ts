/** Files that clients upload, the way into a flow. The engine waits for them and checks them against the options. */
import { Type } from 'typebox';
import { defineNode } from '../ports/node.ts';

export const inputNode = defineNode({
  kind: 'file-input',
  name: 'File Input',
  role: 'input',
  options: Type.Object(
    {
      allowedMimeTypes: Type.Optional(
        Type.Array(Type.String({ pattern: '^(\\*/\\*|[A-Za-z0-9!#$&^_.+-]+/(\\*|[A-Za-z0-9!#$&^_.+-]+))$' }), {
          minItems: 1,
          description: "Media types that are taken, such as image/png or image/*; default: the flow's",
        }),
      ),
      maxFileSize: Type.Optional(
        Type.Integer({ minimum: 1, description: "Bytes of one file at most; default: the flow's" }),
      ),
      maxFiles: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 100, default: 1, description: 'Files that this input takes at most' }),
      ),
      required: Type.Optional(
        Type.Boolean({
          default: true,
          description:
            'Whether the job waits for a file when it is started without one; else the input is skipped, with all that only it leads to',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  plainOptions: true,
  accepts: [],
  produces: (options, incoming) => options.allowedMimeTypes ?? incoming,
});
