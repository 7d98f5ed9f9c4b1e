import { workerData } from 'node:worker_threads';
import { serveByBell } from './serve-ports.ts';
import type { WriterTerms } from './store-links.ts';
import { WriterMemory } from './writer-memory.ts';
import { openWriter } from './writer-verbs.ts';

/** Entry point of the writer thread. */
const { folder, memory: buffer } = workerData as WriterTerms;
const memory = new WriterMemory(buffer);
serveByBell(openWriter(folder, memory), memory.bell);
