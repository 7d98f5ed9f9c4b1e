import type { IncomingHttpHeaders } from 'node:http';
import type { PrefixMemory } from './prefix-memory.ts';
import type { SimScript } from './script.ts';

export type ReplyHeaders = Record<string, string | string[]>;

/** A response as a wire writes it, before delivery delays, splits or cuts it. */
export interface Reply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** An array if the whole answer is known; a short one is sent in one write unless a fault says otherwise. */
  readonly chunks: readonly string[] | readonly [Buffer] | Iterable<string>;
  /** A stream has no content-length. */
  readonly streamed: boolean;
}

/** An error as vendors describe it; each wire writes it in its own envelope. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
}

/** Thrown by request readers; the server answers it through the wire. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

export function refuse(code: string, param: string | null, message: string): never {
  throw new RefusedRequest({ status: 400, message, type: 'invalid_request_error', code, param });
}

/** What wires may use of the simulated host. */
export interface SimHost {
  readonly memory: PrefixMemory;
  nowSeconds(): number;
  /** Unique in this simulator and, by a random part, across simulators. */
  mintId(prefix: string): string;
}

/** A wire: reads requests of its path, and writes answers and errors in its own format. */
export interface SimWire {
  readonly path: string;
  answer(body: Record<string, unknown>, script: SimScript, host: SimHost, headers: IncomingHttpHeaders): Reply;
  refuse(refusal: Refusal, host: SimHost): Reply;
  /** The vendor's usual error for a status. */
  fail(status: number): Refusal;
}

/** A whole JSON body. */
export function jsonReply(status: number, json: string, headers: ReplyHeaders = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, chunks: [json], streamed: false };
}
