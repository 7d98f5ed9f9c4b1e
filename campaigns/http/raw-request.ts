import type { Random } from '../../test/random.ts';

/** A request as text, every character one byte: what a library would put right is sent as it is. */
export interface RawRequest {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  /** Header lines, without their ends. */
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

/** In plain letters, so that a byte is a character. */
export function smallCall(random: Random, more: object = {}): string {
  const words = random.pick(['hello', 'What does the context cost?', '']);
  return JSON.stringify({ model: 'sim-gpt', max_tokens: 5, messages: [{ role: 'user', content: words }], ...more });
}

/** A call in good order, key and all; the connection is closed after it. */
export function goodCall(random: Random, key: string, more: object = {}): RawRequest {
  const body = smallCall(random, more);
  const lines = [HOST, key, JSON_TYPE, lengthOf(body), CLOSE];
  return { method: 'POST', target: '/v1/chat/completions', lines, body };
}
