import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { openScanner } from '../src/store/sqlite/scanner-verbs.ts';
import { serve, serveByBell } from '../src/store/sqlite/serve-ports.ts';
import type { WriterTerms } from '../src/store/sqlite/store-links.ts';
import { WriterMemory } from '../src/store/sqlite/writer-memory.ts';
import { openWriter } from '../src/store/sqlite/writer-verbs.ts';
import { type Duty, FREE, type KeptEntry } from './kept-threads.ts';

/** The entry points of both threads, as functions. */
const ENTRIES: Readonly<Record<KeptEntry, (workerData: unknown) => void>> = {
  writer: (workerData) => {
    const { folder, memory: buffer } = workerData as WriterTerms;
    const memory = new WriterMemory(buffer);
    serveByBell(openWriter(folder, memory), memory.bell);
  },
  scanner: (workerData) => serve(openScanner(workerData as string)),
};

const parent = threads.parentPort;
parent?.on('message', ({ entry, workerData, port }: Duty) => {
  port.once('close', () => parent.postMessage(FREE));
  Object.assign(threads, { parentPort: port });
  syncBuiltinESMExports();
  ENTRIES[entry](workerData);
});
