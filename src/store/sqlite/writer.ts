import { workerData } from 'node:worker_threads';
import { serve } from './serve-ports.ts';
import { openWriter } from './writer-verbs.ts';

/** Entry point of the writer thread. */
serve(openWriter(workerData as string));
