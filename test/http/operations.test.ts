import t from 'tap';
import { toOperation } from '../../src/http/operations.ts';

t.test('an operation with all that its kind needs', (t) => {
  const metadata = { originalName: 'a.png', mimeType: 'image/png', size: 5, album: 'x' };
  t.strictSame(toOperation({ operation: 'init', metadata, storageId: 'default' }, 'f'), {
    operation: 'init',
    storageId: 'default',
    metadata,
  });
  for (const operation of ['finalize', 'upload'] as const) {
    t.strictSame(toOperation({ operation, uploadId: 'u' }, 'f'), { operation, uploadId: 'u' });
  }
  t.end();
});

t.test('what is missing is named with its place', (t) => {
  for (const [operation, field] of [
    ['init', 'metadata'],
    ['finalize', 'uploadId'],
    ['upload', 'uploadId'],
  ] as const) {
    t.throws(() => toOperation({ operation }, 'body.inputs.photo'), {
      code: 'VALIDATION_ERROR',
      message: `body.inputs.photo.${field} is missing for ${operation}`,
      details: { field: `body.inputs.photo.${field}` },
    });
  }
  t.end();
});
