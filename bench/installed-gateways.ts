import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Child, freePort } from './child.ts';
import type { Contender } from './contenders.ts';
import { UPSTREAM_MODEL } from './traffic.ts';

/** Where a gateway of others runs, and what it calls. */
interface InstalledTerms {
  readonly upstreamPort: number;
  /** For its config and its files. */
  readonly folder: string;
  /** Null if it may run on all cores. */
  readonly core: number | null;
}

/** A program that is measured if it is on the PATH. It is never downloaded or built here. */
interface InstalledGateway {
  readonly name: string;
  readonly command: string;
  readonly model: string;
  /** Writes its config, and gives the arguments it is started with. */
  configure(terms: InstalledTerms, port: number): Promise<readonly string[]>;
}

const START_MS_MAX = 20_000;

const NGINX: InstalledGateway = {
  name: 'nginx, bare proxy',
  command: 'nginx',
  model: UPSTREAM_MODEL,
  async configure({ folder, upstreamPort }, port) {
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, nginxConfig(port, upstreamPort, folder));
    return ['-c', file, '-p', folder];
  },
};

/** One process without a master, also on all cores. */
function nginxConfig(port: number, upstreamPort: number, folder: string): string {
  return `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body; proxy_temp_path ${folder}/nginx-proxy;
  keepalive_requests 100000000;
  upstream host { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://host; proxy_http_version 1.1; proxy_set_header connection ""; proxy_buffering off; }
  }
}
`;
}

/** Its log of requests stays on, as Tollgate's does; nothing of it is kept. */
const AGENTGATEWAY: InstalledGateway = {
  name: 'agentgateway',
  command: 'agentgateway',
  model: UPSTREAM_MODEL,
  async configure({ folder, upstreamPort }, port) {
    // Its other listeners have fixed ports by default.
    const [adminAddr, statsAddr, readinessAddr] = [await freePort(), await freePort(), await freePort()].map(
      (other) => `127.0.0.1:${other}`,
    );
    const params = { baseUrl: `http://127.0.0.1:${upstreamPort}/v1`, model: UPSTREAM_MODEL, apiKey: 'none' };
    const config = {
      config: { adminAddr, statsAddr, readinessAddr },
      llm: { port, models: [{ name: UPSTREAM_MODEL, provider: 'openAI', params }] },
    };
    // JSON is YAML too.
    const file = join(folder, 'agentgateway.yaml');
    writeFileSync(file, JSON.stringify(config));
    return ['-f', file];
  },
};

/** Its logs of requests in a database are off: they would be a second thing to measure. */
const BIFROST: InstalledGateway = {
  name: 'Bifrost',
  command: 'bifrost-http',
  model: `openai/${UPSTREAM_MODEL}`,
  async configure({ folder, upstreamPort }, port) {
    const appFolder = join(folder, 'bifrost');
    mkdirSync(appFolder);
    const openai = {
      keys: [{ name: 'bench', value: 'none', models: ['*'], weight: 1 }],
      network_config: { base_url: `http://127.0.0.1:${upstreamPort}`, max_retries: 0 },
      concurrency_and_buffer_size: { concurrency: 1_000, buffer_size: 5_000 },
    };
    const config = {
      client: { enable_logging: false, drop_excess_requests: false },
      providers: { openai },
      config_store: { enabled: false },
      logs_store: { enabled: false },
    };
    writeFileSync(join(appFolder, 'config.json'), JSON.stringify(config));
    return ['-app-dir', appFolder, '-host', '127.0.0.1', '-port', String(port), '-log-level', 'error'];
  },
};

export const INSTALLED_GATEWAYS: readonly InstalledGateway[] = [NGINX, AGENTGATEWAY, BIFROST];

/** Starts one, or says why it has no row. */
export async function startInstalled(gateway: InstalledGateway, terms: InstalledTerms): Promise<Contender | string> {
  const { name, command, model } = gateway;
  if (!isOnPath(command)) return 'is not on the PATH';
  const port = await freePort();
  const child = new Child(terms.core, command, await gateway.configure(terms, port), { quiet: true });
  try {
    await child.listensOn(port, START_MS_MAX);
  } catch (error) {
    await child.stop();
    return `does not start: ${(error as Error).message}`;
  }
  return { name, child, port, model, headers: {}, mayBeLeftOut: true };
}

function isOnPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)));
}
