import { setFlagsFromString } from 'node:v8';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { compileCacheVariable, hasStrippedTypes } from './compile-cache.ts';

/**
 * Threads that run from sources strip types with WebAssembly. After many calls out of WebAssembly V8 compiles a wrapper
 * that all threads share, and may free it while another thread uses it, which crashes the process
 * (docs/decisions/0019). This limit is never reached, so no wrapper is compiled.
 */
const CALLS_BEFORE_COMPILED = 2 ** 30 - 1;

/** Starts the file `entry` (without extension) in the folder of `beside`: .ts from sources, .js when published. */
export function startThread(beside: string, entry: string, options: Omit<WorkerOptions, 'env'> = {}): Worker {
  const ending = beside.endsWith('.ts') ? 'ts' : 'js';
  // Only then, because with changed flags V8 compiles Node's own modules again in every thread, which takes 80 ms.
  if (ending === 'ts' && hasStrippedTypes())
    setFlagsFromString(`--wasm-wrapper-tiering-budget=${CALLS_BEFORE_COMPILED}`);
  const env = compileCacheVariable();
  return new Worker(new URL(`./${entry}.${ending}`, beside), { name: entry, ...options, env });
}
