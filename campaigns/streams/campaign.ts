import { Agent } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ManualClock } from '../../src/kit/clock.ts';
import { parseId } from '../../src/kit/ids.ts';
import { openRaw, readRaw } from '../../test/raw-client.ts';
import { SMUGGLED } from './carriage.ts';
import { type Case, makeCase } from './cases.ts';
import { endingOf } from './ending.ts';
import { caseMark } from './hostile-host.ts';
import { AFTER_END } from './spoil.ts';
import { openWorld, type World } from './world.ts';

interface StreamsTerms {
  readonly seed: number;
  readonly count: number;
  /** How many of them stop sending for good, which only advancing the clock can end. */
  readonly silent: number;
  /** The number of the first case, to repeat one of them. */
  readonly from?: number;
  readonly inFlight?: number;
  /** False: the gateway parses every frame. */
  readonly frameMemory?: boolean;
  onProgress?(done: number): void;
}

export interface StreamsReport {
  readonly cases: number;
  readonly endings: Readonly<Record<string, number>>;
  /** By the name of the fault. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
  readonly heapGrowthBytes: number;
  readonly peakBytes: number;
}

const PROGRESS_EVERY = 500;
const FAULTS_KEPT = 200;
/** After this many, every cache and buffer has its usual size. */
const WARM_UP = 100;

/** What is logged for an unexpected error. */
const SURPRISES = /unexpectedly|cannot keep its promises/;

class Run {
  readonly terms: StreamsTerms;
  readonly faults: string[] = [];
  readonly endings: Record<string, number> = {};
  readonly kinds: Record<string, number> = {};
  readonly #agent = new Agent({ keepAlive: true });
  #done = 0;
  peakBytes = 0;

  constructor(terms: StreamsTerms) {
    this.terms = terms;
  }

  get done(): number {
    return this.#done;
  }

  /** Several at a time, in the order of their numbers. */
  async runAll(world: World, first: number, beyond: number): Promise<void> {
    let next = first;
    const work = async (): Promise<void> => {
      while (next < beyond) {
        const number = next++;
        await this.runCase(world, makeCase(this.terms.seed, number));
      }
    };
    await Promise.all(Array.from({ length: this.terms.inFlight ?? 8 }, work));
    await this.checkBooks(world);
  }

  /** One at a time, and the clock moves only for it. */
  async runSilences(world: World, clock: ManualClock): Promise<void> {
    const first = this.terms.from ?? 0;
    for (let number = first; number < first + this.terms.silent; number++) {
      let over = false;
      const called = this.runCase(world, makeCase(this.terms.seed, number, true)).finally(() => {
        over = true;
      });
      while (!over) {
        clock.advance(30_000);
        for (let turn = 0; turn < 20 && !over; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      await called;
    }
    await this.checkBooks(world);
  }

  /**
   * A valid response can fail on a connection that an earlier one has broken. The host caused that itself, and a second
   * attempt must succeed.
   */
  async runCase(world: World, one: Case): Promise<void> {
    const faults = await this.#try(world, one);
    if (++this.#done % PROGRESS_EVERY === 0) this.terms.onProgress?.(this.#done);
    const told = faults.length > 0 && one.verdict === 'whole' ? await this.#try(world, one) : faults;
    if (this.faults.length < FAULTS_KEPT) this.faults.push(...told);
  }

  async #try({ harness, host }: World, one: Case): Promise<string[]> {
    const { lane, number } = one;
    host.script(number, one.script);
    const faults: string[] = [];
    const fail = (what: string): void => {
      const name = `case ${number} (${lane.wire} from ${lane.hostWire}, ${lane.relay}${lane.stream ? ', stream' : ''}; ${one.spoil}; ${one.carriage}; ${one.verdict})`;
      faults.push(`${name}: ${what}`);
    };
    try {
      const body = lane.body(`${caseMark(number)} hello`);
      const answer = await readRaw(await openRaw(harness.url + lane.path, body, { agent: this.#agent }));
      const ending = endingOf(lane.wire, lane.stream, answer);
      this.#count(one, ending.how);
      ending.faults.forEach(fail);
      if (one.verdict === 'broken' && ending.how === 'clean') fail(`ended cleanly: ${answer.text.slice(-200)}`);
      if (one.verdict === 'whole' && ending.how !== 'clean') fail(`did not end cleanly: ${answer.text.slice(-300)}`);
      if (ending.how === 'cut') fail('was cut');
      for (const mark of [AFTER_END, SMUGGLED]) if (answer.text.includes(mark)) fail(`told ${mark}`);
      await this.#checkReceipt(
        harness,
        String(answer.headers['x-gateway-request-id']),
        ending.how,
        answer.status,
        fail,
      );
    } catch (error) {
      fail(`threw ${(error as Error).stack}`);
    }
    host.forget(number);
    return faults;
  }

  async #checkReceipt(
    { running }: World['harness'],
    requestId: string,
    how: string,
    status: number,
    fail: (what: string) => void,
  ): Promise<void> {
    const id = parseId('req_', requestId);
    const receipt = id === null ? null : await running.books.store.findReceipt(id, null);
    if (receipt === null) {
      fail(`has no receipt ${requestId}, status ${status}`);
      return;
    }
    const { state, ended, costNanousd, heldNanousd } = receipt;
    if (state !== 'settled') fail(`its hold is ${state}`);
    if (costNanousd < 0n || costNanousd > heldNanousd) fail(`charged ${costNanousd} of ${heldNanousd}`);
    if ((ended === 'complete') !== (how === 'clean')) fail(`ended ${how} for its client and ${ended} in its receipt`);
    if (status !== 200 && costNanousd !== 0n) fail(`refused with ${status} and charged ${costNanousd}`);
  }

  /** Nothing may be left open, and no unexpected error may be logged. */
  async checkBooks({ harness }: World): Promise<void> {
    await harness.settled();
    await harness.expectCleanBooks().catch((error: Error) => this.faults.push(error.message));
    const surprises = harness.log.filter(({ level, msg }) => level === 'fatal' || SURPRISES.test(String(msg)));
    for (const line of surprises.slice(0, 5)) this.faults.push(`logged ${JSON.stringify(line).slice(0, 500)}`);
    (harness.log as unknown[]).length = 0;
  }

  #count({ spoil, carriage }: Case, how: string): void {
    for (const kind of [spoil, carriage]) this.kinds[kind] = (this.kinds[kind] ?? 0) + 1;
    this.endings[how] = (this.endings[how] ?? 0) + 1;
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    this.peakBytes = Math.max(this.peakBytes, heapUsed + arrayBuffers);
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Runs all cases and reports what was wrong; the same seed makes the same cases. */
export async function streamsCampaign(terms: StreamsTerms): Promise<StreamsReport> {
  const run = new Run(terms);
  const first = terms.from ?? 0;
  const warm = Math.min(first + WARM_UP, first + terms.count);
  const world = await openWorld(terms.frameMemory ?? true);
  let heapGrowthBytes = 0;
  try {
    await run.runAll(world, first, warm);
    const before = heapAfterCollection();
    for (let at = warm; at < first + terms.count; at += 2_000) {
      await run.runAll(world, at, Math.min(at + 2_000, first + terms.count));
    }
    heapGrowthBytes = heapAfterCollection() - before;
  } finally {
    await world.close();
  }
  if (terms.silent > 0) await runSilent(run);
  run.close();
  const { endings, kinds, faults, peakBytes, done } = run;
  return { cases: done, endings, kinds, faults, heapGrowthBytes, peakBytes };
}

async function runSilent(run: Run): Promise<void> {
  const clock = new ManualClock(Date.UTC(2026, 10, 15));
  const world = await openWorld(run.terms.frameMemory ?? true, clock);
  try {
    await run.runSilences(world, clock);
  } finally {
    await world.close();
  }
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
