import { workerData } from 'node:worker_threads';
import { openScanner } from './scanner-verbs.ts';
import { serve } from './thread.ts';

/** Entry of the thread that reads at length. */
serve(openScanner(workerData as string));
