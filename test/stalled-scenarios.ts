import type { SimScript } from '../src/sim/sim.ts';
import { type Counts, CUT, type Driven, type Scenario, untilSettled } from './ending-scenarios.ts';
import { manyTurns, until } from './until.ts';

/** A client that does not read is noticed only when more is written than the sockets can buffer, so short texts get padding. */

const PADDING_BYTES = 7 * 1024 * 1024;
const PADDED_FRAMES = 3;
export const WORD = 'hi';

const EARLY = '"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}';
export const LAST: Readonly<Record<Counts, string>> = {
  reported: '"usage":{"prompt_tokens":5,"completion_tokens":40,"total_tokens":45}',
  missing: '"usage":null',
  zero: '"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}',
  partial: '"usage":null',
  unusable: '"usage":{"prompt_tokens":-6,"completion_tokens":-41,"total_tokens":-46}',
  too_much: '"usage":{"prompt_tokens":50000,"completion_tokens":400000,"total_tokens":450000}',
};

export function frame(choices: string, more: string): string {
  return `data: {"id":"a","object":"chat.completion.chunk","created":1,"model":"sim-gpt","choices":[${choices}],${more}}\n\n`;
}

export function delta(text: string, finish = 'null'): string {
  return `{"index":0,"delta":{"role":"assistant","content":"${text}"},"finish_reason":${finish}}`;
}

export function padded(words: string, counts: Counts): string {
  // A number, because text would count as content.
  const padding = `"padding":0.${'1'.repeat(PADDING_BYTES)}`;
  const [first = '', second = ''] = words;
  return (
    frame(delta(first), counts === 'partial' ? EARLY : '"usage":null') +
    frame(delta(second), '"usage":null') +
    frame(delta(''), padding).repeat(PADDED_FRAMES)
  );
}

/** In pieces, so that the host's progress can be seen. */
export function raw(text: string): SimScript {
  return {
    splitBytes: 128 * 1024,
    raw: { contentType: 'text/event-stream', base64: Buffer.from(text).toString('base64') },
  };
}

/** The client reads nothing for as long as it may: its time runs only while the gateway waits for it, so that is waited for. */
export async function clientStalls({ harness, clock }: Driven): Promise<void> {
  await harness.sim.waitForCalls(1);
  const { stallMs } = harness.running.gateway.limits;
  await until(() => clock.fallsDueIn(stallMs), 'the gateway waits for the client');
  clock.advance(stallMs);
  await manyTurns();
}

export const STALLED: readonly Scenario[] = [
  {
    row: 'stalled stream_before_content',
    mode: 'streamed',
    host: 'stops',
    counts: ['reported', 'partial'],
    script: (counts) => ({ ...raw(padded('', counts)), hang: 1 }),
    drive: async (call) => {
      await clientStalls(call);
      await untilSettled(call);
    },
  },
  {
    row: 'stalled stream_cut',
    mode: 'streamed',
    host: 'stops',
    counts: ['reported', 'missing', 'partial'],
    script: (counts) => ({ ...raw(padded(WORD, counts)), hang: 1 }),
    drive: async (call) => {
      await clientStalls(call);
      call.clock.advance(call.harness.running.gateway.limits.drainMs);
      await untilSettled(call);
    },
    known: CUT,
    passedOn: WORD,
  },
  {
    row: 'stalled stream_drained',
    mode: 'streamed',
    host: 'goes on',
    script: (counts) =>
      raw(
        `${padded(WORD, counts)}${frame(delta('', '"stop"'), '"usage":null')}${frame('', LAST[counts])}data: [DONE]\n\n`,
      ),
    drive: async (call) => {
      await clientStalls(call);
      await untilSettled(call);
    },
    passedOn: WORD,
    drained: true,
  },
];
