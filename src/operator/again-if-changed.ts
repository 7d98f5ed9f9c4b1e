import { OperatorError } from './error.ts';

const TRIES_MAX = 4;

/** For a change that depends on what it read: it is made again if somebody else has changed that in the meantime. */
export async function againIfChanged<Result>(what: string, change: () => Promise<Result | 'changed'>): Promise<Result> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const result = await change();
    if (result !== 'changed') return result;
  }
  throw new OperatorError('version_conflict', `Somebody else keeps changing ${what}. Nothing was changed. Try again.`);
}
