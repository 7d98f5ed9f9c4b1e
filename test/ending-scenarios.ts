import type { ManualClock } from '../src/kit/clock.ts';
import type { SimScript } from '../src/sim/sim.ts';
import type { Harness } from './harness.ts';
import type { LedgerGate } from './ledger-gate.ts';
import type { StreamClient } from './stream-client.ts';
import { manyTurns, until } from './until.ts';

/** How each row of docs/endings.md is caused over HTTP, with a simulated host that can behave in every way. */

export const OUTPUT_LIMIT = 100;
export const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: OUTPUT_LIMIT };
export const STREAM_ASK = { ...ASK, stream: true };
/** The true counts of the simulator: one token of text and four of framing; one token per word. */
export const PROMPT_TOKENS = 5;
export const ANSWER_TOKENS = 40;
export const ANSWER: SimScript = { words: ANSWER_TOKENS, tokensPerChunk: 1 };
/** Frames that a client has after ten words: the first has the role. */
export const TEN_WORDS = 11;

/** By which factor a host overcounts in the tests of that. */
export const INFLATION = 10_000;

/** What a host says about its counts, as the page names it, and the fault that makes the simulator say so. */
export const USAGE_FAULTS = {
  reported: {},
  missing: { usage: 'omit' },
  zero: { usage: 'zero' },
  partial: { usage: 'early-only' },
  unusable: { usage: 'negative' },
  too_much: { usage: { inflate: INFLATION } },
} as const satisfies Record<string, SimScript>;

export type Counts = keyof typeof USAGE_FAULTS;

/** A call on its way to an ending. */
export interface Driven {
  readonly harness: Harness;
  readonly clock: ManualClock;
  readonly client: StreamClient;
  /** Holds back the ledger's answer, if the scenario needs it. */
  readonly holdGate: LedgerGate | null;
}

export interface Scenario {
  /** `ended situation`, as in the page's table. */
  readonly row: string;
  readonly mode: 'buffered' | 'streamed';
  /** What the host does, apart from its counts. */
  readonly host: 'goes on' | 'stops' | 'errors';
  readonly onClientGone?: 'drain' | 'cancel';
  /** The counts to try: all of them, unless a case is slow and the counts do not matter. */
  readonly counts?: readonly Counts[];
  script(counts: Counts): SimScript;
  /** The hold is taken, but its confirmation waits until the scenario releases it. */
  readonly holdsUp?: true;
  /** From the request, which has been sent, to the ending. */
  drive(call: Driven): Promise<void>;
  /** What is known about the counts at that ending; by default, what the script's fault implies. */
  readonly known?: Partial<Record<Counts, Counts>>;
  /** The host was read to its end although the client was gone. */
  readonly drained?: true;
  /** What was passed on to a client that does not read. */
  readonly passedOn?: string;
  /** Output tokens that the host had counted by then, if not all. */
  readonly counted?: number;
  /** The loss allowance is used up, so everything that the host sends counts: this, or all of the usual answer. */
  readonly readToEnd?: string | 'whole answer';
  /** The host says that it did not work on the call. */
  readonly refused?: true;
}

/** The usual answer in the usual pieces, with wrong counts. */
export function says(script: SimScript): Scenario['script'] {
  return (counts) => ({ ...script, ...USAGE_FAULTS[counts] });
}

/** The count comes last, so an answer that is cut off has at most an early one. */
export const CUT: Partial<Record<Counts, Counts>> = {
  reported: 'missing',
  zero: 'missing',
  unusable: 'missing',
  too_much: 'missing',
};
/** A buffered answer has one place for its counts. */
export const WHOLE: Partial<Record<Counts, Counts>> = { partial: 'missing' };

export const untilSettled = async ({ harness }: Driven): Promise<void> => {
  await harness.sim.waitForCalls(1);
  await until(() => harness.running.gateway.runningCalls.count === 0, 'the call is over');
};

/** A short stream reaches its client only after the settlement. */
const untilAnswered = async (call: Driven): Promise<void> => {
  await untilSettled(call);
  await call.client.end();
};

export async function tenWords({ harness, client }: Driven): Promise<void> {
  await harness.sim.waitForGate('chunk', 1);
  harness.sim.release('chunk', TEN_WORDS);
  await client.has(({ events }) => events.length === TEN_WORDS, 'ten words');
}

export async function hostHasTheCall({ harness }: Driven): Promise<void> {
  await harness.sim.waitForCalls(1);
  await manyTurns();
}

const COMPLETE: readonly Scenario[] = [
  { row: 'complete any', mode: 'buffered', host: 'goes on', script: says(ANSWER), drive: untilAnswered, known: WHOLE },
  { row: 'complete any', mode: 'streamed', host: 'goes on', script: says(ANSWER), drive: untilAnswered },
  {
    row: 'complete any',
    mode: 'streamed',
    host: 'stops',
    script: says({ ...ANSWER, omitDone: true }),
    drive: untilAnswered,
  },
];

const FAILED: readonly Scenario[] = [
  { row: 'failed any', mode: 'buffered', host: 'errors', script: says({ status: 500 }), drive: untilSettled },
  {
    row: 'failed any',
    mode: 'buffered',
    host: 'errors',
    script: says({ ...ANSWER, cutAtByte: 60 }),
    drive: untilSettled,
  },
  { row: 'failed any', mode: 'buffered', host: 'errors', script: says({ errorAfterChunks: 0 }), drive: untilSettled },
  {
    row: 'failed any',
    mode: 'buffered',
    host: 'stops',
    script: says({ ...ANSWER, endAtByte: 60 }),
    drive: untilSettled,
  },
  {
    row: 'failed any',
    mode: 'buffered',
    host: 'errors',
    script: says({ status: 500, gateHead: 'head' }),
    drive: async (call) => {
      await call.harness.sim.waitForGate('head', 1);
      call.client.leave();
      await manyTurns();
      call.harness.sim.release('head');
      await untilSettled(call);
    },
  },
  {
    row: 'failed any',
    mode: 'streamed',
    host: 'errors',
    script: says({ status: 503 }),
    drive: untilSettled,
    refused: true,
  },
  {
    row: 'failed any',
    mode: 'streamed',
    host: 'errors',
    script: says({ errorAfterChunks: 0, errorWithUsage: true }),
    drive: untilSettled,
    known: { missing: 'reported', partial: 'reported' },
    counted: 0,
  },
  {
    row: 'failed any',
    mode: 'streamed',
    host: 'stops',
    script: says({ ...ANSWER, endAtByte: 10 }),
    drive: untilSettled,
  },
];

const UPSTREAM_ERROR: readonly Scenario[] = [
  {
    row: 'upstream_error before_content',
    mode: 'streamed',
    host: 'errors',
    script: says({ ...ANSWER, errorAfterChunks: 1, gate: 'chunk' }),
    drive: async (call) => {
      await call.harness.sim.waitForGate('chunk', 1);
      await manyTurns();
      // The headers are sent with a keep-alive, so the error can only be sent inside the stream.
      call.clock.advance(call.harness.running.gateway.limits.keepAliveMs);
      await call.client.has(({ events }) => events.length === 1, 'the keep-alive');
      call.harness.sim.release('chunk', 2);
      await untilSettled(call);
    },
  },
  {
    row: 'upstream_error after_content',
    mode: 'streamed',
    host: 'errors',
    script: says({ ...ANSWER, errorAfterChunks: TEN_WORDS }),
    drive: untilSettled,
    known: CUT,
  },
  {
    row: 'upstream_error after_content',
    mode: 'streamed',
    host: 'errors',
    script: says({ ...ANSWER, errorAfterChunks: TEN_WORDS, errorWithUsage: true }),
    drive: untilSettled,
    // This host reports its usage in the error, even if it leaves it out elsewhere.
    known: { missing: 'reported', partial: 'reported' },
    counted: 10,
  },
  {
    row: 'upstream_error after_content',
    mode: 'streamed',
    host: 'stops',
    script: says({ ...ANSWER, endAtByte: 3_000 }),
    drive: untilSettled,
    known: CUT,
  },
];

const TIMEOUT: readonly Scenario[] = [
  ...(['buffered', 'streamed'] as const).map(
    (mode): Scenario => ({
      row: 'timeout before_content',
      mode,
      host: 'stops',
      script: says({ hang: 'before-head' }),
      drive: async (call) => {
        await hostHasTheCall(call);
        call.clock.advance(call.harness.running.gateway.limits.bufferedMs);
        await untilSettled(call);
      },
    }),
  ),
  {
    row: 'timeout after_content',
    mode: 'streamed',
    host: 'stops',
    script: says({ ...ANSWER, hang: TEN_WORDS }),
    drive: async (call) => {
      await call.client.has(({ events }) => events.length === TEN_WORDS, 'ten words');
      call.clock.advance(call.harness.running.gateway.limits.idleMs);
      await untilSettled(call);
    },
    known: CUT,
  },
  {
    row: 'timeout after_content',
    mode: 'streamed',
    host: 'goes on',
    script: says({ ...ANSWER, gate: 'chunk' }),
    drive: async (call) => {
      const { streamMs, idleMs } = call.harness.running.gateway.limits;
      await tenWords(call);
      for (let passedMs = 0; passedMs < streamMs; passedMs += idleMs - 1) {
        const { length } = call.client.events;
        call.harness.sim.release('chunk');
        await call.client.has(({ events }) => events.length > length, 'another word');
        call.clock.advance(idleMs - 1);
      }
      await untilSettled(call);
    },
    known: CUT,
  },
];

/** Each brings its call to the point at which the gateway is stopped, which ends all of them. */
export const WHEN_STOPPED: readonly Scenario[] = [
  ...(['buffered', 'streamed'] as const).map(
    (mode): Scenario => ({
      row: 'shutdown before_content',
      mode,
      host: 'stops',
      script: says({ hang: 'before-head' }),
      drive: manyTurns,
    }),
  ),
  {
    row: 'shutdown after_content',
    mode: 'streamed',
    host: 'stops',
    script: says({ ...ANSWER, hang: TEN_WORDS }),
    drive: ({ client }) => client.has(({ events }) => events.length === TEN_WORDS, 'ten words'),
    known: CUT,
  },
];

export const SCENARIOS: readonly Scenario[] = [...COMPLETE, ...FAILED, ...UPSTREAM_ERROR, ...TIMEOUT];
