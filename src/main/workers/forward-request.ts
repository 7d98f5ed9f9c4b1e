import type { MessagePort } from 'node:worker_threads';
import { RunningCalls } from '../../gateway/running-calls.ts';
import type { InboundRequest, OutboundResponse } from '../../http1/server.ts';
import { LIMITS } from '../../limits.ts';
import { asBuffer, type FromFirst, lengthOf, sendTo, type ToFirst } from './forwarded.ts';

/** Lets the first worker answer requests that this one received. */
export class Forwarder {
  readonly #send: (message: ToFirst) => void;
  readonly #open = new Map<number, ForwardedExchange>();
  /** Counts the calls among them. */
  readonly calls = new RunningCalls();
  #lastId = 0;

  constructor(port: MessagePort) {
    this.#send = sendTo(port);
    port.on('message', (message: FromFirst) => this.#open.get(message.id)?.receive(message));
  }

  forward(request: InboundRequest, response: OutboundResponse, isCall = false): void {
    const id = ++this.#lastId;
    if (isCall) this.calls.begin();
    const exchange = new ForwardedExchange(id, request, response, this.#send);
    this.#open.set(id, exchange);
    response.onClose = () => {
      this.#open.delete(id);
      this.#send({ id, kind: 'closed' });
      if (isCall) this.calls.end();
    };
    exchange.begin();
  }
}

/** One request and its response, on the side of the client. */
class ForwardedExchange {
  readonly #id: number;
  readonly #request: InboundRequest;
  readonly #response: OutboundResponse;
  readonly #send: (message: ToFirst) => void;
  /** Bytes of the body that the first worker has not read yet. */
  #unread = 0;
  /** Bytes of the response that wait for a slow client. */
  #untaken = 0;

  constructor(id: number, request: InboundRequest, response: OutboundResponse, send: (message: ToFirst) => void) {
    this.#id = id;
    this.#request = request;
    this.#response = response;
    this.#send = send;
    response.onDrain = () => this.#taken();
  }

  begin(): void {
    const { method, url, httpVersionMajor, httpVersionMinor, rawHeaders, headers, peerAddress } = this.#request;
    const head = { method, url, httpVersionMajor, httpVersionMinor, rawHeaders, headers, peerAddress };
    const whole = this.#request.takeWhole();
    const body = whole === null ? null : new Uint8Array(whole);
    this.#send({ id: this.#id, kind: 'request', head, body });
    if (body === null) this.#sendBody();
  }

  #sendBody(): void {
    const id = this.#id;
    this.#request.read({
      data: (piece) => {
        this.#send({ id, kind: 'data', bytes: new Uint8Array(piece) });
        this.#unread += piece.length;
        if (this.#unread > LIMITS.workerWindowBytes) this.#request.pause();
      },
      end: () => this.#send({ id, kind: 'body_ended' }),
      failed: () => this.#send({ id, kind: 'body_failed' }),
    });
  }

  receive(message: FromFirst): void {
    const response = this.#response;
    switch (message.kind) {
      case 'read':
        this.#unread -= message.bytes;
        if (this.#unread <= LIMITS.workerWindowBytes) this.#request.resume();
        return;
      case 'continue':
        response.sendContinue();
        return;
      case 'head':
        response.closes ||= message.closes;
        response.head(message.status, message.lines, message.length);
        return;
      case 'write':
        this.#untaken += lengthOf(message.bytes);
        if (response.write(asBuffer(message.bytes))) this.#taken();
        return;
      case 'end':
        response.closes ||= message.closes;
        response.end(asBuffer(message.bytes));
        return;
      case 'destroy':
        response.destroy();
    }
  }

  #taken(): void {
    const bytes = this.#untaken;
    this.#untaken = 0;
    if (bytes > 0) this.#send({ id: this.#id, kind: 'taken', bytes });
  }
}
