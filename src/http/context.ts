/** What the routes share, and what an adapter is to the service. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Engine } from '../engine/index.ts';
import type { Follow } from '../events/follow.ts';
import type { Uploads } from '../uploads/index.ts';
import type { Links } from './links.ts';
import type { SignedFiles } from './signed-files.ts';

/** A real round trip to each thing that the service needs, by name. */
export type Probes = Readonly<Record<string, () => Promise<void>>>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose things the request may touch; absent without authentication. */
    clientId: string | undefined;
  }
}

/** How files get to those who may read them. */
export interface FileDelivery {
  /** Seconds for which an address at the store works; absent: all bytes come through this service. */
  readonly redirectFor?: number;
  /** Absent: files need no signed address. */
  readonly signed?: SignedFiles;
}

/** What `createService` gives its adapter. */
export interface HttpServices {
  readonly uploads: Uploads;
  readonly engine: Engine;
  readonly follow: Follow;
  readonly links: Links;
  readonly files: FileDelivery;
  readonly probes: Probes;
  readonly version: string;
  /** Bytes. */
  readonly maxUploadSize: number;
  readonly isDraining: () => boolean;
}

/** What every route gets. */
export type HttpContext = HttpServices & { readonly docs: boolean };

/** How the service speaks HTTP: `handler` for requests, `websocketHandler` for upgrades of the host's server. */
export interface HttpHandlers {
  handler(request: IncomingMessage, response: ServerResponse): void;
  websocketHandler(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes all sockets with 1001. */
  close(): Promise<void>;
}

/** Connects the service to a web framework. */
export interface Adapter {
  readonly name: string;
  create(services: HttpServices): Promise<HttpHandlers>;
}
