import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../src/canonical/errors.ts';
import { type JsonText, scanJson } from '../src/json/json.ts';
import { messages } from '../src/wires/messages/index.ts';
import type { Peek } from '../src/wires/peek.ts';

/** Requests of the messages wire, as a gateway would hand them to it. */

const GENEROUS = { depthMax: 64, nodesMax: 100_000, keysMax: 100_000, numberDigitsMax: 400, keyBytesMax: 4096 };

export function textOf(body: unknown): JsonText {
  return scanJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), GENEROUS);
}

export const PLAIN = { model: 'claude-harbour', max_tokens: 64, messages: [{ role: 'user', content: 'When?' }] };

export function peekAt(body: unknown, headers: IncomingHttpHeaders = {}): Peek {
  return messages.client.peek(textOf(body), headers);
}

/** The code and the field a body is refused for; null if it passes. */
export function refusalOf(read: () => unknown): { code: string | null; param: string | null } | null {
  try {
    read();
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { code: error.code, param: error.param };
  }
}
