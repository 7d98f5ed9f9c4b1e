import { parentPort, workerData } from 'node:worker_threads';
import { checkMonth, type FileToCheck } from './check-file.ts';

for (const month of workerData as FileToCheck[][]) parentPort?.postMessage(checkMonth(month));
