import type { Usage } from '../src/canonical/usage.ts';
import { SseFramer } from '../src/kit/sse.ts';
import { LIMITS } from '../src/limits.ts';
import type { Bill } from '../src/wires/bill.ts';
import type { RelayTerms, StreamRelay } from '../src/wires/wire.ts';

/** Drives relays of the messages wire as the gateway does, without one. */

export const TERMS: RelayTerms = {
  catalogModel: 'claude-harbour',
  requestId: 'req_0000000000000',
  createdS: 1_790_000_000,
  nowS: () => 1_790_000_000,
  wantsUsageFrame: true,
  hideReasoning: false,
  request: null,
  quirks: {},
};

export const WRITE_TERMS = { ...TERMS, request: {}, outputLimit: 1000 };

export function billOf(usage: Usage): Bill {
  const components = { freshNanousd: 7n, cacheWriteNanousd: 0n, cacheReadNanousd: 1n, outputNanousd: 2n ** 60n };
  return { usage, costNanousd: 2n ** 60n + 8n, costUsd: 1.5, components };
}

/** Feeds a host's bytes in pieces of one length; returns what a client would have got before the end. */
export function feed(relay: StreamRelay, body: Buffer, pieceBytes: number): string {
  const sent: string[] = [];
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  const take = (frame: Parameters<StreamRelay['frame']>[0]): void => {
    const bytes = relay.frame(frame);
    if (bytes !== null) sent.push(bytes.toString());
  };
  for (let at = 0; at < body.length; at += pieceBytes) framer.push(body.subarray(at, at + pieceBytes), take);
  framer.end(take);
  return sent.join('');
}

/** The whole stream, settled at the usage the relay saw. */
export function relayWhole(relay: StreamRelay, body: Buffer, pieceBytes: number): string {
  const sent = feed(relay, body, pieceBytes);
  const { usage } = relay;
  if (usage.state === 'missing') throw new Error('The host gave no usage.');
  return sent + relay.closing(billOf(usage.usage));
}

/** Odd pieces, so that events, line ends and characters of several bytes are cut. */
export const PIECES = [1_000_000, 64, 7, 1];
