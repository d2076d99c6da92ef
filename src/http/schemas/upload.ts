/** Uploads on the wire (WIRE 1). */
import { Type } from 'typebox';
import { byteCount, strictObject } from './common.ts';

const flowLink = strictObject(
  { flowId: Type.String(), nodeId: Type.String(), jobId: Type.String() },
  { description: 'The waiting input of a job that the upload is for' },
);

export const newUploadSchema = strictObject({
  fileName: Type.Optional(Type.String({ maxLength: 1024 })),
  size: Type.Optional(byteCount('Bytes; required unless uploadLengthDeferred')),
  type: Type.Optional(Type.String({ maxLength: 255, description: 'Media type, as the client believes' })),
  storageId: Type.Optional(Type.String({ maxLength: 64, description: 'Default: default' })),
  metadata: Type.Optional(
    Type.Union([Type.String({ maxLength: 32768 }), Type.Record(Type.String(), Type.Unknown())], {
      description: 'An object, JSON text, base64 of JSON, or tus pairs',
    }),
  ),
  checksum: Type.Optional(
    Type.String({ pattern: '^[0-9A-Fa-f]{64}$', description: 'SHA-256 in hex, verified on the last byte' }),
  ),
  checksumAlgorithm: Type.Optional(Type.String({ maxLength: 32, description: 'sha256' })),
  lastModified: Type.Optional(Type.Integer({ description: 'Milliseconds since 1970' })),
  uploadLengthDeferred: Type.Optional(Type.Boolean({ description: 'The size is told later, by Upload-Length' })),
  flow: Type.Optional(flowLink),
});

export const uploadSchema = Type.Object(
  {
    id: Type.String(),
    offset: byteCount('The bytes before it are durable'),
    size: Type.Optional(byteCount('Absent while the length is deferred')),
    status: Type.Enum(['created', 'uploading', 'finalizing', 'completed', 'failed', 'cancelled']),
    metadata: Type.Record(Type.String(), Type.Unknown(), {
      description: 'fileName, size, type and what the client gave',
    }),
    detectedType: Type.Optional(Type.String({ description: 'The media type that the first bytes show' })),
    storage: Type.Object({ id: Type.String(), type: Type.String() }),
    creationDate: Type.String({ format: 'date-time' }),
    expiresAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'It ends unfinished then; every PATCH moves it' }),
    ),
    url: Type.Optional(Type.String({ description: 'The bytes, once completed' })),
    sizeIsDeferred: Type.Optional(Type.Boolean()),
    checksum: Type.Optional(Type.String()),
    checksumAlgorithm: Type.Optional(Type.String()),
    flow: Type.Optional(flowLink),
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
  },
  { additionalProperties: true, description: 'An upload' },
);

export const capabilitiesSchema = Type.Object({
  storageId: Type.String(),
  capabilities: Type.Record(Type.String(), Type.Unknown()),
  timestamp: Type.String({ format: 'date-time' }),
});
