import { once } from 'node:events';
import { type Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

/** A complete response, and whether it ended cleanly. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  readonly ended: 'complete' | 'cut';
}

export interface RawOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sends the body without announcing its length. */
  readonly chunked?: boolean;
  /** Shares connections; without it, each request has its own. */
  readonly agent?: Agent;
}

/** Sends a JSON body (or none) on a connection of its own, without waiting for the answer. */
export function sendRaw(url: string, body: unknown, options: RawOptions = {}): ClientRequest {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const length = options.chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': Buffer.byteLength(text) };
  const headers = { 'content-type': 'application/json', ...length, ...options.headers };
  const sent = request(url, { method: options.method ?? 'POST', headers, agent: options.agent ?? false });
  sent.on('error', () => {});
  sent.end(text);
  return sent;
}

/** Resolves with the head; the body is the caller's to read. */
export async function openRaw(url: string, body: unknown, options: RawOptions = {}): Promise<IncomingMessage> {
  const [response] = (await once(sendRaw(url, body, options), 'response')) as [IncomingMessage];
  return response;
}

export async function callRaw(url: string, body: unknown, options: RawOptions = {}): Promise<RawAnswer> {
  return readRaw(await openRaw(url, body, options));
}

/** Reads the rest of a response; a broken one counts as an answer too. */
export async function readRaw(response: IncomingMessage): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', () => {});
  await new Promise((resolve) => response.once('close', resolve));
  const body = Buffer.concat(chunks);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body,
    text: body.toString(),
    ended: response.complete ? 'complete' : 'cut',
  };
}

/** The data of every server-sent event in a text, comments left out. */
export function eventsOf(text: string): string[] {
  const events: string[] = [];
  for (const block of text.split(/\r?\n\r?\n/)) {
    const data = block.split(/\r?\n/).filter((line) => line.startsWith('data: '));
    if (data.length > 0) events.push(data.map((line) => line.slice('data: '.length)).join('\n'));
  }
  return events;
}
