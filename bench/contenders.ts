import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Child, freePort, MEASURED_CORE } from './child.ts';
import type { TollgateHello, TollgateTerms } from './tollgate.ts';
import { CATALOG_MODEL, UPSTREAM_MODEL } from './traffic.ts';

/** Something that answers chat calls, and how to call it. */
export interface Contender {
  readonly name: string;
  readonly child: Child;
  readonly port: number;
  readonly model: string;
  readonly headers: Record<string, string>;
  /** Gateway keys of its own store, if it does not share those of the others. */
  readonly keys?: readonly string[];
  /** Threads that serve calls, each of which compiles its code for itself; absent: one. */
  readonly workers?: number;
  /** We do not control its version and config: a wrong answer from it does not end the run. */
  readonly mayBeLeftOut?: true;
}

/** The same code a second time, with a store of its own: the ratio of the two is the noise of a run. */
export const AGAIN = 'Tollgate again';

/** How the name of another checkout's gateway begins. */
export const OF_CHECKOUT = 'Tollgate of ';

/** The gateway with every call traced. */
export const TRACED = 'Tollgate, every call traced';

const PORTKEY = '@portkey-ai/gateway';
const PORTKEY_VERSION = '1.15.2';

/** `core`: null if it may run on all of them. */
export async function startPassThrough(upstreamPort: number, core: number | null = MEASURED_CORE): Promise<Contender> {
  const { child, hello } = await Child.ready<{ port: number }>(core, 'pass-through.ts', { upstreamPort });
  return { name: 'bare Node pass-through', child, port: hello.port, model: UPSTREAM_MODEL, headers: {} };
}

/** The same with this many threads, on all cores. */
export async function startPassThroughs(upstreamPort: number, workers: number): Promise<Contender> {
  const { child, hello } = await Child.ready<{ port: number }>(null, 'pass-through.ts', { upstreamPort, workers });
  return {
    name: `bare proxy, ${countOf(workers)}`,
    workers,
    child,
    port: hello.port,
    model: UPSTREAM_MODEL,
    headers: {},
  };
}

function countOf(workers: number): string {
  return `${workers} ${workers === 1 ? 'worker' : 'workers'}`;
}

export async function startTollgate(terms: TollgateTerms, nodeFlags: readonly string[] = []): Promise<Contender> {
  const { child, hello } = await Child.ready<TollgateHello>(MEASURED_CORE, 'tollgate.ts', terms, nodeFlags);
  const own = terms.tracesTo === undefined ? 'Tollgate' : TRACED;
  const name = terms.transport === 'own' ? own : `Tollgate, ${terms.transport} transport`;
  return { name, child, port: hello.port, model: CATALOG_MODEL, headers: {} };
}

export async function startTollgateAgain(terms: TollgateTerms): Promise<Contender> {
  return { ...(await startTollgate(terms)), name: AGAIN };
}

/** With this many workers, on all cores. */
export async function startWorkers(terms: TollgateTerms & { readonly workers: number }): Promise<Contender> {
  const { child, hello } = await Child.ready<TollgateHello>(null, 'tollgate.ts', terms);
  const { workers } = terms;
  return { name: `Tollgate, ${countOf(workers)}`, workers, child, port: hello.port, model: CATALOG_MODEL, headers: {} };
}

/** The gateway of another checkout, with its own code, store and benchmark programs: what a change costs is seen in one run. */
export async function startOtherTollgate(checkout: string, terms: TollgateTerms, keys: readonly string[]) {
  const { CATALOG_MODEL: model = OLDER_MODEL } = (await import(join(checkout, 'bench/traffic.ts'))) as OtherTraffic;
  const program = join(checkout, 'bench/tollgate.ts');
  const { child, hello } = await Child.ready<TollgateHello>(MEASURED_CORE, program, terms);
  const name = `${OF_CHECKOUT}${basename(checkout)}`;
  return { name, child, port: hello.port, model, headers: {}, keys } satisfies Contender;
}

interface OtherTraffic {
  readonly CATALOG_MODEL?: string;
}

/** The model that benchmarks of older checkouts ask for, which had two relays for one wire. This one uses the relay that is left. */
const OLDER_MODEL = 'bench-mended';

/** The published package, outside this project's dependencies; null where it cannot be installed. */
export async function startPortkey(upstreamPort: number, core: number | null): Promise<Contender | null> {
  const entry = installPortkey();
  if (entry === null) return null;
  const port = await freePort();
  const child = new Child(core, process.execPath, [entry, `--port=${port}`, '--headless'], { quiet: true });
  await child.listensOn(port);
  const headers = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  };
  return { name: `${PORTKEY} ${PORTKEY_VERSION}`, child, port, model: UPSTREAM_MODEL, headers };
}

/** Its own repository locks this version of its server adapter; with the newest one npm would choose, it answers every stream with a 500. */
const PORTKEY_OVERRIDES = { '@hono/node-server': '1.13.5' };

function installPortkey(): string | null {
  const folder = join(tmpdir(), `tollgate-bench-portkey-${PORTKEY_VERSION}`);
  const entry = join(folder, 'node_modules', PORTKEY, 'build/start-server.js');
  if (existsSync(entry)) return entry;
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: { [PORTKEY]: PORTKEY_VERSION }, overrides: PORTKEY_OVERRIDES };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 180_000,
  });
  return existsSync(entry) ? entry : null;
}
