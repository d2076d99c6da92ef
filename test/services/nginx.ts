/** An nginx in front of replicas, with the configuration that the documentation gives to those who operate them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/wait.ts';
import { findProgram } from './debian.ts';
import { freePort } from './port.ts';

/** The program; see `findProgram`. */
export const findNginx = (): string | undefined => findProgram('nginx');

export interface NginxProcess {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  stop(): Promise<void>;
}

const documented = new URL('../../docs/operate/nginx.conf', import.meta.url);

/** The documented file for these addresses, on a port of the loopback interface; nothing else of it is changed. */
const configure = async (port: number, servers: readonly string[]): Promise<string> => {
  const text = await readFile(documented, 'utf8');
  const [line, options] = /^ *server sluice:3000( .*);$/m.exec(text) ?? [];
  if (line === undefined || !text.includes('listen 80;')) throw new Error(`${documented.pathname} is of another shape`);
  return text
    .replace(line, servers.map((server) => `server ${new URL(server).host}${options};`).join('\n'))
    .replace('listen 80;', `listen 127.0.0.1:${port};`);
};

/** One process without a master: it can be killed as it is, and keeps its user. */
const mainOf = (directory: string) => `daemon off;
master_process off;
pid ${directory}/pid;
error_log ${directory}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  include ${directory}/conf.d/*.conf;
}
`;

/** Starts one that hands requests to the services at these addresses in turn. */
export const startNginx = async (program: string, servers: readonly string[]): Promise<NginxProcess> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-nginx-'));
  const port = await freePort();
  await mkdir(join(directory, 'conf.d'));
  await writeFile(join(directory, 'conf.d', 'sluice.conf'), await configure(port, servers));
  await writeFile(join(directory, 'nginx.conf'), mainOf(directory));
  const log = join(directory, 'error.log');
  const child = spawn(program, ['-c', join(directory, 'nginx.conf'), '-e', log], { stdio: 'ignore' });
  // A test that dies must not leave it behind.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} has ended:\n${await readFile(log, 'utf8')}`);
    return isListening(port);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      process.off('exit', kill);
      if (child.exitCode === null && child.signalCode === null) {
        kill();
        await once(child, 'exit');
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
