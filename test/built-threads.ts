import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import threads, { type WorkerOptions } from 'node:worker_threads';
import { builtThread, THREADS } from './thread-files.ts';
import { ROOT } from './tidy/paths.ts';

/** Gateways in the process of a test start their threads as `test/programs-setup.ts` has built them: they load faster. */

const BUILT = process.env.TOLLGATE_TEST_PROGRAMS ?? null;

class BuiltWorker extends threads.Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    super(builtFiles.get(String(file)) ?? file, options);
  }
}

const builtFiles = new Map(
  BUILT === null
    ? []
    : THREADS.map((path) => [
        pathToFileURL(join(ROOT, 'src', `${path}.ts`)).href,
        pathToFileURL(join(BUILT, 'dist', `${builtThread(path)}.js`)),
      ]),
);

// Once for all test files of a process.
if (BUILT !== null && threads.Worker.name !== BuiltWorker.name) {
  threads.Worker = BuiltWorker;
  syncBuiltinESMExports();
}
