import { Agent, request } from 'undici';
import { proxyAgent } from '../egress/proxy-agent.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { type ConfiguredHost, keyHeader } from './host.ts';

export type KeyVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'rejected'; readonly status: number }
  /** The host answered, but not in a way that says anything about the key. */
  | { readonly kind: 'unknown'; readonly status: number }
  | { readonly kind: 'unreachable'; readonly reason: string };

export interface CheckedKey {
  readonly host: string;
  readonly keySource: string;
  readonly verdict: KeyVerdict;
}

/** Asks every host that has a key for its list of models, which costs nothing, all at once. */
export function checkKeys(
  hosts: readonly ConfiguredHost[],
  headers: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<CheckedKey[]> {
  const keyed = hosts.filter(({ row, key }) => key !== null && !row.simulated);
  return Promise.all(
    keyed.map(async (host) => ({
      host: host.row.name,
      keySource: host.keySource ?? 'its key',
      verdict: await checkKey(host, headers, clock),
    })),
  );
}

async function checkKey(
  { row, key, proxy }: ConfiguredHost,
  headers: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<KeyVerdict> {
  const options = { connect: { timeout: LIMITS.hostKeyCheckMs } };
  const agent = proxy === undefined ? new Agent(options) : proxyAgent(proxy.url.reveal(), options);
  const stop = new AbortController();
  const timer = clock.after(LIMITS.hostKeyCheckMs, () => stop.abort());
  const secret = key?.reveal() ?? '';
  try {
    const { statusCode, body } = await request(`${row.baseUrl}/models`, {
      dispatcher: agent,
      signal: stop.signal,
      headers: {
        accept: 'application/json',
        ...headers,
        ...keyHeader(row, secret),
      },
    });
    // Only the status matters; the list may be long.
    body.on('error', () => undefined).destroy();
    return judge(statusCode);
  } catch (error) {
    return { kind: 'unreachable', reason: stop.signal.aborted ? TOO_SLOW : reasonOf(error) };
  } finally {
    timer.cancel();
    await agent.destroy();
  }
}

const TOO_SLOW = `no answer within ${LIMITS.hostKeyCheckMs / 1000} seconds`;

function judge(status: number): KeyVerdict {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  return status === 401 || status === 403 ? { kind: 'rejected', status } : { kind: 'unknown', status };
}

/** The code only: a message may contain the URL of a proxy with its password. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'the connection failed';
}
