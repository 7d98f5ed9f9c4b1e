import { workerData } from 'node:worker_threads';
import { openToWrite } from './database.ts';
import { serveVerbs } from './thread.ts';
import { writerVerbs } from './writer-verbs.ts';

/** Entry of the thread that writes. */
const database = openToWrite((workerData as { folder: string }).folder);
serveVerbs(writerVerbs(database), () => database.close());
