import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { undici } from './load-undici.ts';
import { type ClientProxy, proxyAgent, throughProxy } from './proxy-agent.ts';

export interface ProxiedRequest {
  readonly target: URL;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | null;
  /** How long nothing may arrive. */
  readonly silenceMs: number;
}

/** A response whose body is read piece by piece. */
export interface ProxiedResponse extends AsyncIterable<Buffer> {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
}

/** Sends one request through a proxy, over a connection of its own. */
export async function requestThroughProxy(proxy: ClientProxy, request: ProxiedRequest): Promise<ProxiedResponse> {
  const { target, method, headers, body, silenceMs } = request;
  const times = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const agent = proxyAgent(proxy.url, { ...times, allowH2: false });
  const options = { dispatcher: agent, method, headers, body, ...times };
  const destroyed = (): void => void agent.destroy().catch(() => undefined);
  const answer = await undici()
    .request(target, options)
    .catch((error: Error): Dispatcher.ResponseData => {
      destroyed();
      throw throughProxy(error, proxy.name);
    });
  answer.body.once('close', destroyed);
  return Object.assign(answer.body, { statusCode: answer.statusCode, headers: answer.headers });
}
