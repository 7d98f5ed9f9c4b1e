import type { MessagePort } from 'node:worker_threads';
import type { InboundRequest } from '../../http1/server.ts';

/**
 * A request that one worker received and the first worker answers, as messages: the request with its body goes one way,
 * the response the other. Each side acknowledges bytes, so that neither sends faster than the other takes them.
 */
export type ToFirst = { readonly id: number } & (
  | {
      readonly kind: 'request';
      readonly head: RequestHead;
      /** The whole body if it has arrived, else null. */
      readonly body: Uint8Array | null;
    }
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'body_ended' | 'body_failed' }
  /** The client, or the connection, has taken this many bytes of the response. */
  | { readonly kind: 'taken'; readonly bytes: number }
  /** The response is over, sent or not. */
  | { readonly kind: 'closed' }
);

export type FromFirst = { readonly id: number } & (
  | { readonly kind: 'continue' | 'destroy' }
  | {
      readonly kind: 'head';
      readonly status: number;
      readonly lines: string;
      readonly length: number | null;
      readonly closes: boolean;
    }
  | { readonly kind: 'write'; readonly bytes: Uint8Array | string }
  | { readonly kind: 'end'; readonly bytes: Uint8Array | string; readonly closes: boolean }
  /** This many bytes of the body have been read. */
  | { readonly kind: 'read'; readonly bytes: number }
);

export type RequestHead = Pick<
  InboundRequest,
  'method' | 'url' | 'httpVersionMajor' | 'httpVersionMinor' | 'rawHeaders' | 'headers' | 'peerAddress'
>;

/** A copy with memory of its own: a message would carry all of the memory that a piece is part of. */
export function ownBytes(bytes: Buffer | string): Uint8Array | string {
  return typeof bytes === 'string' ? bytes : new Uint8Array(bytes);
}

export function lengthOf(bytes: Uint8Array | string): number {
  return typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
}

export function asBuffer(bytes: Uint8Array | string): Buffer | string {
  return typeof bytes === 'string' ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function sendTo<Message>(port: MessagePort): (message: Message) => void {
  return (message) => void port.postMessage(message);
}
