import { parentPort, workerData } from 'node:worker_threads';
import { giveBackWhenIdle } from '../../kit/idle-memory.ts';
import type { Order, Report, WorkerTerms } from './messages.ts';
import { openWorker } from './open-worker.ts';

/** Entry point of a worker that is a thread of its own. */
const port = parentPort;
if (port === null) throw new Error('This file is the entry point of a thread and cannot be run directly.');
const report = (message: Report): void => void port.postMessage(message);
const worker = await openWorker(workerData as WorkerTerms, report);
port.on('message', (order: Order) => void worker.obey(order));
giveBackWhenIdle();
report({ kind: 'composed' });
