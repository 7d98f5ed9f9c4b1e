import { getCompileCacheDir } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Every thread takes the types out of its sources with WebAssembly, whose calls V8 compiles once they are many, for all
 * threads together, and frees while some still use them, which ends the process; so many they never become.
 */
const CALLS_BEFORE_COMPILED = 2 ** 30 - 1;

/** `entry` is a file in the folder of `beside`, without its ending: sources run as .ts, the published program as .js. */
export function startThread(beside: string, entry: string, options: Omit<WorkerOptions, 'env'> = {}): Worker {
  const ending = beside.endsWith('.ts') ? 'ts' : 'js';
  if (ending === 'ts') setFlagsFromString(`--wasm-wrapper-tiering-budget=${CALLS_BEFORE_COMPILED}`);
  return new Worker(new URL(`./${entry}.${ending}`, beside), { name: entry, ...options, env: environment() });
}

/** Threads see nothing of the environment, secrets least; only where Node keeps what it made of the sources. */
function environment(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
