import type { Sim } from '../src/sim/sim-handle.ts';
import type { StreamClient } from '../test/stream-client.ts';
import { until } from '../test/until.ts';

/** Calls that were sent at once, after all have ended. */
interface Met {
  /** Calls that reached the host. */
  readonly admitted: number;
  readonly clients: readonly StreamClient[];
  readonly passed: readonly StreamClient[];
  readonly refused: readonly StreamClient[];
}

/**
 * Sends calls at once. The host answers only after every call is admitted or refused, so that all of them reach the limit at the same time.
 * `beforeAnswers` runs in between.
 */
export async function meetAtLimit(
  sim: Pick<Sim, 'reset' | 'script' | 'received' | 'waitForGate' | 'release'>,
  calls: number,
  send: (call: number) => StreamClient,
  beforeAnswers: () => Promise<void> = async () => {},
): Promise<Met> {
  sim.reset();
  sim.script({ words: 3, gateHead: 'barrier' });
  const clients = Array.from({ length: calls }, (_, call) => send(call));
  const ended = () => clients.filter((client) => client.ended !== null).length;
  await until(() => ended() + sim.received() >= calls, 'every call is admitted or refused');
  const admitted = sim.received();
  await beforeAnswers();
  await sim.waitForGate('barrier', admitted);
  sim.release('barrier', admitted);
  await until(() => ended() === calls, 'every call has ended');
  const hasPassed = (client: StreamClient) => client.status === 200 && client.ended === 'complete';
  return {
    admitted,
    clients,
    passed: clients.filter(hasPassed),
    refused: clients.filter((client) => !hasPassed(client)),
  };
}

/** A refusal is whole, costs nothing, and has the error code of its limit. */
export function judgeRefusal({ status, headers, text, ended }: StreamClient, code: string): string[] {
  const isRefusal = ended === 'complete' && headers['x-gateway-cost-nanousd'] === '0';
  if (isRefusal && JSON.parse(text).error.code === code) return [];
  return [`A call beyond the limit was ${ended} with ${status}: ${text.slice(0, 200)}`];
}

export function judgeCounts({ admitted, passed }: Met, allowed: number): string[] {
  return [
    ...(admitted === allowed ? [] : [`${admitted} calls reached the host, and ${allowed} were allowed`]),
    ...(passed.length === allowed ? [] : [`${passed.length} calls passed, and ${allowed} were allowed`]),
  ];
}
