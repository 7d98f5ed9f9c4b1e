import { workerData } from 'node:worker_threads';
import { openScanner } from './scanner-verbs.ts';
import { serve } from './serve-ports.ts';

/** Entry point of the thread for long reads. */
serve(openScanner(workerData as string));
