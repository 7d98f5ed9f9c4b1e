import { workerData } from 'node:worker_threads';
import { openScanner } from './scanner-verbs.ts';
import { serve } from './thread.ts';

/** Entry point of the thread for long reads. */
serve(openScanner(workerData as string));
