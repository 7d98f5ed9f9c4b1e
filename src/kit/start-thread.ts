import { getCompileCacheDir } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Sources lose their types in WebAssembly, anew in every thread. When that has called out often enough V8 compiles its
 * calls, shares them between threads, and frees them while another uses them, which ends the process: so it never has.
 */
const CALLS_BEFORE_COMPILED = 2 ** 31 - 1;

/** `entry` is a file in the folder of `beside`, without its ending: sources run as .ts, the published program as .js. */
export function startThread(beside: string, entry: string, options: Omit<WorkerOptions, 'env'> = {}): Worker {
  const ending = beside.endsWith('.ts') ? 'ts' : 'js';
  if (ending === 'ts') setFlagsFromString(`--wasm-wrapper-tiering-budget=${CALLS_BEFORE_COMPILED}`);
  return new Worker(new URL(`./${entry}.${ending}`, beside), { name: entry, env: environment(), ...options });
}

/** Threads see nothing of the environment, secrets least; only where Node keeps what it made of the sources. */
function environment(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
