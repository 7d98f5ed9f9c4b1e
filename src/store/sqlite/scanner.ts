import { workerData } from 'node:worker_threads';
import { openToRead } from './database.ts';
import { scannerVerbs } from './scanner-verbs.ts';
import { serveVerbs } from './thread.ts';

/** Entry of the thread that reads at length. */
const database = openToRead((workerData as { folder: string }).folder);
serveVerbs(scannerVerbs(database), () => database.close());
