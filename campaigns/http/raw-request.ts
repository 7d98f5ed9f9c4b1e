import type { Random } from '../../test/random.ts';

/** A request as text, one byte per character: errors that a library would correct are sent as they are. */
export interface RawRequest {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** Header lines, without their line ends. */
  readonly lines?: readonly string[];
  readonly body?: string;
}

export function write({ method = 'GET', target = '/v1/models', version = 'HTTP/1.1', ...rest }: RawRequest): string {
  const head = [`${method} ${target} ${version}`, ...(rest.lines ?? [])].join('\r\n');
  return `${head}\r\n\r\n${rest.body ?? ''}`;
}

export function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

export const HOST = 'host: gateway.example';
export const CLOSE = 'connection: close';
export const JSON_TYPE = 'content-type: application/json';

export function lengthOf(body: string): string {
  return `content-length: ${body.length}`;
}

/** ASCII only, so that a byte is a character. */
export function smallCall(random: Random, more: object = {}): string {
  const words = random.pick(['hello', 'What does the context cost?', '']);
  return JSON.stringify({ model: 'sim-gpt', max_tokens: 5, messages: [{ role: 'user', content: words }], ...more });
}

/** A valid call with a key; the connection is closed after it. */
export function goodCall(random: Random, key: string, more: object = {}): RawRequest {
  const body = smallCall(random, more);
  const lines = [HOST, key, JSON_TYPE, lengthOf(body), CLOSE];
  return { method: 'POST', target: '/v1/chat/completions', lines, body };
}
