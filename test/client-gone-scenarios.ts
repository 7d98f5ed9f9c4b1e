import {
  ANSWER,
  CUT,
  type Driven,
  hostHasTheCall,
  type Scenario,
  says,
  TEN_WORDS,
  tenWords,
  untilSettled,
  WHOLE,
} from './ending-scenarios.ts';
import { manyTurns, until } from './until.ts';

/** How clients hang up, for the rows of docs/endings.md that are about it. */

async function leave(call: Driven): Promise<void> {
  call.client.leave();
  await manyTurns();
  call.harness.sim.release('chunk', 1_000);
}

export const CLIENT_GONE: readonly Scenario[] = [
  ...(['buffered', 'streamed'] as const).map(
    (mode): Scenario => ({
      row: 'client_gone not_sent',
      mode,
      host: 'goes on',
      script: says(ANSWER),
      holdsUp: true,
      drive: async ({ harness, client, holdGate }) => {
        await until(holdGate!.reached, 'the hold is taken');
        client.leave();
        await manyTurns();
        holdGate!.letGo();
        await harness.settled();
      },
    }),
  ),
  ...(['goes on', 'stops', 'errors'] as const).map(
    (host): Scenario => ({
      row: 'client_gone stream_before_content',
      mode: 'streamed',
      host,
      script: says({ ...ANSWER, gate: 'chunk', ...(host === 'errors' && { errorAfterChunks: 1 }) }),
      drive: async (call) => {
        await call.harness.sim.waitForGate('chunk', 1);
        if (host === 'goes on') call.harness.sim.release('chunk');
        await manyTurns();
        call.client.leave();
        await untilSettled(call);
      },
    }),
  ),
  {
    row: 'client_gone stream_cut',
    mode: 'streamed',
    host: 'goes on',
    onClientGone: 'cancel',
    script: says({ ...ANSWER, gate: 'chunk' }),
    drive: async (call) => {
      await tenWords(call);
      await leave(call);
      await untilSettled(call);
    },
    known: CUT,
  },
  {
    row: 'client_gone stream_cut',
    mode: 'streamed',
    host: 'stops',
    script: says({ ...ANSWER, hang: TEN_WORDS }),
    drive: async (call) => {
      await call.client.has(({ events }) => events.length === TEN_WORDS, 'ten words');
      await leave(call);
      call.clock.advance(call.harness.running.gateway.limits.drainMs);
      await untilSettled(call);
    },
    known: CUT,
  },
  {
    row: 'client_gone stream_cut',
    mode: 'streamed',
    host: 'errors',
    script: says({ ...ANSWER, gate: 'chunk', cutAtByte: 8_000 }),
    drive: async (call) => {
      await tenWords(call);
      await leave(call);
      await untilSettled(call);
    },
    known: CUT,
  },
  {
    row: 'client_gone stream_drained',
    mode: 'streamed',
    host: 'goes on',
    script: says({ ...ANSWER, gate: 'chunk' }),
    drive: async (call) => {
      await tenWords(call);
      await leave(call);
      await untilSettled(call);
    },
    drained: true,
  },
  {
    row: 'client_gone buffered_cancelled',
    mode: 'buffered',
    host: 'goes on',
    onClientGone: 'cancel',
    script: says({ ...ANSWER, gateHead: 'chunk' }),
    drive: async (call) => {
      await call.harness.sim.waitForGate('chunk', 1);
      await leave(call);
      await untilSettled(call);
    },
    known: { ...CUT, ...WHOLE },
  },
  {
    row: 'client_gone buffered_cancelled',
    mode: 'buffered',
    host: 'stops',
    script: says({ ...ANSWER, hang: 'before-head' }),
    drive: async (call) => {
      await hostHasTheCall(call);
      await leave(call);
      call.clock.advance(call.harness.running.gateway.limits.drainMs);
      await untilSettled(call);
    },
    known: { ...CUT, ...WHOLE },
  },
  {
    row: 'client_gone buffered_drained',
    mode: 'buffered',
    host: 'goes on',
    script: says({ ...ANSWER, gateHead: 'chunk' }),
    drive: async (call) => {
      await call.harness.sim.waitForGate('chunk', 1);
      await leave(call);
      await untilSettled(call);
    },
    known: WHOLE,
    drained: true,
  },
];
