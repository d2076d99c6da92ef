/** Health on the wire (WIRE 4). */
import { Type } from 'typebox';

const state = Type.Enum(['healthy', 'degraded', 'unhealthy']);

export const healthSchema = Type.Object({
  status: state,
  timestamp: Type.String({ format: 'date-time' }),
  version: Type.String(),
  uptime: Type.Integer({ description: 'Milliseconds' }),
  components: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        status: state,
        latency: Type.Number({ description: 'Milliseconds' }),
        message: Type.Optional(Type.String()),
      }),
    ),
  ),
});
