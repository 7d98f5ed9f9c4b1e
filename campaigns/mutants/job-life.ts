import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `job life: ${name}`, changes: [{ file, find, replace }], tests };
}

const LIFE = 'src/jobs/job.test.ts';
const WORKER = 'src/jobs/worker.test.ts';
const DEFERRED = 'src/gateway/deferred.test.ts';

/** Faults by which a job would run twice, be charged wrongly, or keep others waiting. */
export const JOB_LIFE_MUTANTS: readonly Mutant[] = [
  mutant(
    'a job cut short after its host was asked that runs again',
    'src/jobs/attempt-ledger.ts',
    "const mayRunAgain = !ending.mayHaveRun || job.onUnknown === 'retry';",
    'const mayRunAgain = job !== null;',
    LIFE,
  ),
  mutant(
    'a job cut short before a byte of it had left that does not run again',
    'src/gateway/relay/buffered.ts',
    "this.#finish({ ...this.#nothing('shutdown', error, null), turnedAway });",
    "this.#finish({ ...this.#nothing('shutdown', error, null), turnedAway: turnedAway && false });",
    LIFE,
  ),
  mutant(
    'a request that counts as unsent after it has left',
    'src/http1/client/host-connection.ts',
    'return this.#connection?.wasReady !== true;',
    'return this.#connection !== null;',
    'src/http1/client.test.ts',
  ),
  mutant(
    'jobs that are accepted during a look and found at the next poll',
    'src/kit/waker.ts',
    'this.wakeIn(this.#mustLookAgain ? 0 : nextMs);',
    'this.wakeIn(nextMs);',
    'src/kit/waker.test.ts',
  ),
  mutant(
    'a group that is stored in one commit',
    'src/jobs/group-intake.ts',
    'if (isFull || this.#jobs.length >= LIMITS.jobStageRowsMax) await this.#stage();',
    'if (isFull) await this.#stage();',
    'src/jobs/group-intake.test.ts',
  ),
  mutant(
    'a large request that is stored in one commit',
    'src/jobs/stage-slice.ts',
    'const later = jobs.length === 1 ? chunks.slice(1) : [];',
    'const later = jobs.length === 0 ? chunks.slice(1) : [];',
    'src/jobs/group-intake.test.ts',
  ),
  mutant(
    'groups that leave calls no time',
    'src/jobs/turns.ts',
    '    if (hasCalls()) await pause(clock, restMs);\n',
    '    if (hasCalls()) await pause(clock, restMs * 0);\n',
    'src/jobs/turns.test.ts',
  ),
  mutant(
    'changes of jobs that queue up before the commits of calls',
    'src/store/sqlite/jobs.ts',
    'const change = last.then(() =>',
    'const change = Promise.resolve().then(() =>',
    'src/store/sqlite/jobs.test.ts',
  ),
  mutant(
    'a response that is charged although it was not stored',
    'src/jobs/attempt-ledger.ts',
    '      return this.#drop(settlement, notStored());',
    '      return { job: this.#endAs(end, error), stored: settlement };',
    LIFE,
  ),
  mutant(
    'a job that is made for ever although its host breaks off each time',
    'src/jobs/attempt-ledger.ts',
    'if (brokeOff && job.attempts + 1 >= LIMITS.jobBrokenAttemptsMax) return null;',
    'void brokeOff;',
    LIFE,
  ),
  mutant(
    'a cancelled group whose last lines run',
    'src/jobs/stored-jobs.ts',
    'if (!group.isActive) await activate(this.#terms, id);',
    'if (!group.isActive) void activate;',
    'src/jobs/group-intake.test.ts',
  ),
  mutant(
    'a job that is not cancelled because it went back to the queue',
    'src/jobs/stored-jobs.ts',
    "if (asked !== 'waiting') return;",
    'return;',
    LIFE,
  ),
  mutant(
    'a job priced by the list in force',
    'src/jobs/pinned-prices.ts',
    'if (catalog.priceVersion === version) return inForce;',
    'if (catalog.priceVersion !== null) return inForce;',
    LIFE,
  ),
  mutant(
    'a failure that is tried again after the latest start',
    'src/jobs/attempt-ledger.ts',
    'return dueMs <= job.expiresMs ? dueMs : null;',
    'return dueMs;',
    LIFE,
  ),
  mutant(
    'a deferred call that costs more than was reserved for it',
    'src/gateway/exchange.ts',
    'return call.deferred?.reservedNanousd ?? admission.worstNanousd;',
    'return call === null ? 0n : admission.worstNanousd;',
    DEFERRED,
  ),
  mutant(
    'a deferred call of `auto` that runs another model',
    'src/gateway/understand.ts',
    'call.deferred?.modelId ?? peek.model',
    'peek.model',
    DEFERRED,
  ),
  mutant(
    'turns that always begin with the first account',
    'src/jobs/worker.ts',
    '        this.#lastAccount = accountId;\n',
    '',
    WORKER,
  ),
  mutant(
    'jobs that start although calls need all there is',
    'src/jobs/worker.ts',
    'if (!isBusy()) await this.#fill();',
    'await this.#fill();',
    WORKER,
  ),
  mutant(
    'jobs of other keys that are shown to a key without permission',
    'src/jobs/stored-jobs.ts',
    '(reader.keyId === null || owner.keyId === reader.keyId) &&',
    '',
    LIFE,
  ),
];
