import { startThread } from '../../kit/start-thread.ts';
import { checkMonth, type FileToCheck, type MonthFindings } from './check-file.ts';

/** Reads the files of months and returns what was found, in the same order. Calls must not wait for that, so it may run in a thread. */
export async function checkMonths(
  months: readonly (readonly FileToCheck[])[],
  inThread: boolean,
  onMonth: (month: number) => void = () => undefined,
): Promise<MonthFindings[]> {
  const found: MonthFindings[] = [];
  const add = (findings: MonthFindings): void => onMonth(found.push(findings) - 1);
  if (!inThread) for (const files of months) add(checkMonth(files));
  else if (months.length > 0) await inWorker(months, add);
  return found;
}

function inWorker(
  months: readonly (readonly FileToCheck[])[],
  onFindings: (findings: MonthFindings) => void,
): Promise<void> {
  const worker = startThread(import.meta.url, 'check-worker', { workerData: months });
  worker.on('message', onFindings);
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error('The thread that reads archives failed.')),
    );
  });
}
