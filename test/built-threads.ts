import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import threads, { type Worker, type WorkerOptions } from 'node:worker_threads';
import { compileCacheVariable } from '../src/kit/compile-cache.ts';
import { KeptThread, KeptThreads } from './kept-threads.ts';
import { builtThread, KEPT_THREAD, KEPT_THREADS, THREADS } from './thread-files.ts';
import { ROOT } from './tidy/paths.ts';

/**
 * Gateways in the process of a test start their threads as `test/programs-setup.ts` has built them: they load faster. The
 * threads of stores are used again.
 */

/** Set by tests of how the threads of stores themselves begin and end. */
export const NEW_THREADS = 'TOLLGATE_TEST_NEW_THREADS';

type StartArguments = [file: string | URL, options?: WorkerOptions];

/** `folder`: where they were built; null if they were not. */
function useThreads(folder: string | null): void {
  const built = (path: string) => pathToFileURL(join(folder ?? '', 'dist', `${builtThread(path)}.js`));
  const source = (path: string) => pathToFileURL(join(ROOT, 'src', `${path}.ts`)).href;
  const builtFiles = new Map(folder === null ? [] : THREADS.map((path) => [source(path), built(path)]));
  const entries = new Map(KEPT_THREADS.map(([path, entry]) => [source(path), entry]));
  const RealWorker = threads.Worker;
  const keptFile = folder === null ? new URL(`./${KEPT_THREAD}.ts`, import.meta.url) : built(KEPT_THREAD);
  const kept = new KeptThreads(() => new RealWorker(keptFile, { env: compileCacheVariable() }));
  threads.Worker = new Proxy(RealWorker, {
    construct: (_, [file, options]: StartArguments): Worker | KeptThread => {
      const entry = process.env[NEW_THREADS] === undefined ? entries.get(String(file)) : undefined;
      if (entry !== undefined) return new KeptThread(kept, entry, options?.workerData);
      return new RealWorker(builtFiles.get(String(file)) ?? file, options);
    },
  });
  syncBuiltinESMExports();
}

// Once for all test files of a process.
if (!types.isProxy(threads.Worker)) useThreads(process.env.TOLLGATE_TEST_PROGRAMS ?? null);
