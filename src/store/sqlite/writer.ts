import { workerData } from 'node:worker_threads';
import { serve } from './thread.ts';
import { openWriter } from './writer-verbs.ts';

/** Entry of the thread that writes. */
serve(openWriter(workerData as string));
