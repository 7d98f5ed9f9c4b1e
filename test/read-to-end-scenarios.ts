import {
  ANSWER,
  CUT,
  type Driven,
  hostHasTheCall,
  type Scenario,
  says,
  tenWords,
  untilSettled,
  WHOLE,
} from './ending-scenarios.ts';
import { clientStalls, delta, frame, LAST, padded, raw, WORD } from './stalled-scenarios.ts';
import { manyTurns } from './until.ts';

/** Clients that leave when the loss allowance is used up. */

async function leaveThenGoOn(call: Driven): Promise<void> {
  await call.harness.sim.waitForGate('chunk', 1);
  call.client.leave();
  await manyTurns();
  call.harness.sim.release('chunk', 1_000);
  await untilSettled(call);
}

/** The client leaves, and the time for which a host is read anyway passes. */
async function leaveForLong({ harness, clock, client }: Driven): Promise<void> {
  client.leave();
  await manyTurns();
  clock.advance(harness.running.gateway.limits.drainMs);
  await manyTurns();
}

async function stallThenGoOn(call: Driven): Promise<void> {
  await clientStalls(call);
  await untilSettled(call);
}

export const READ_TO_END: readonly Scenario[] = [
  {
    row: 'client_gone stream_read_to_end',
    mode: 'streamed',
    host: 'goes on',
    script: says({ ...ANSWER, gate: 'chunk' }),
    drive: leaveThenGoOn,
    drained: true,
    readToEnd: 'whole answer',
  },
  {
    row: 'client_gone stream_read_to_end_failed',
    mode: 'streamed',
    host: 'errors',
    script: says({ ...ANSWER, gate: 'chunk', errorAfterChunks: 5 }),
    drive: leaveThenGoOn,
  },
  {
    row: 'stalled stream_read_to_end',
    mode: 'streamed',
    host: 'goes on',
    counts: ['reported', 'missing'],
    script: (counts) => {
      const end = `${frame(delta('', '"stop"'), '"usage":null')}${frame('', LAST[counts])}data: [DONE]\n\n`;
      return raw(`${padded('', counts)}${frame(delta(WORD), '"usage":null')}${end}`);
    },
    drive: stallThenGoOn,
    drained: true,
    readToEnd: WORD,
  },
  {
    row: 'stalled stream_read_to_end_failed',
    mode: 'streamed',
    host: 'stops',
    counts: ['reported'],
    script: (counts) => raw(`${padded('', counts)}${frame(delta(WORD), '"usage":null')}`),
    drive: stallThenGoOn,
  },
  {
    row: 'client_gone stream_drained',
    mode: 'streamed',
    host: 'goes on',
    script: says({ ...ANSWER, gate: 'chunk' }),
    drive: async (call) => {
      await tenWords(call);
      await leaveForLong(call);
      call.harness.sim.release('chunk', 1_000);
      await untilSettled(call);
    },
    drained: true,
    readToEnd: 'whole answer',
  },
  {
    row: 'client_gone buffered_drained',
    mode: 'buffered',
    host: 'goes on',
    script: says({ ...ANSWER, gateHead: 'chunk' }),
    drive: async (call) => {
      await call.harness.sim.waitForGate('chunk', 1);
      await leaveForLong(call);
      call.harness.sim.release('chunk', 1_000);
      await untilSettled(call);
    },
    known: WHOLE,
    drained: true,
  },
  {
    row: 'client_gone buffered_cancelled',
    mode: 'buffered',
    host: 'stops',
    counts: ['reported'],
    script: says({ ...ANSWER, hang: 'before-head' }),
    drive: async (call) => {
      await hostHasTheCall(call);
      await leaveForLong(call);
      call.clock.advance(call.harness.running.gateway.limits.bufferedMs);
      await untilSettled(call);
    },
    known: { ...CUT, ...WHOLE },
  },
];
