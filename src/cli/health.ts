/** The container's health check: asks the service of this machine whether it is alive, and exits with 0 or 1. */
import { loadConfig, loadEnvFile } from '../config/load.ts';
import { createLinks } from '../http/links.ts';

loadEnvFile();
const { port, basePath } = loadConfig();
const { base } = createLinks(`/${basePath}`);
const response = await fetch(`http://127.0.0.1:${port}${base}/api/health`).catch(() => undefined);
process.exit(response?.ok === true ? 0 : 1);
