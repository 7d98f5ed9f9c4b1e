/** A request that may have to wait. */
export interface QueuedRequest {
  /** Whom it is sent for; null is the gateway itself. */
  readonly onBehalfOf: bigint | null;
}

/**
 * Requests that wait for a connection. Accounts take turns, so that many requests of one do not delay the others. A request
 * that is given up leaves at once: it may be large, and the wait long.
 */
export class WaitingRequests<Request extends QueuedRequest> {
  /** The requests of each account, in the order of turns. No queue is empty. */
  readonly #queues = new Map<bigint | null, Set<Request>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(request: Request): void {
    const queue = this.#queues.get(request.onBehalfOf);
    if (queue === undefined) this.#queues.set(request.onBehalfOf, new Set([request]));
    else queue.add(request);
    this.#size++;
  }

  forget(request: Request): void {
    const queue = this.#queues.get(request.onBehalfOf);
    if (queue?.delete(request) !== true) return;
    this.#size--;
    if (queue.size === 0) this.#queues.delete(request.onBehalfOf);
  }

  /** The oldest request of the one whose turn it is; it waits no more. */
  next(): Request | undefined {
    // Every call that ends asks, and nearly always none waits.
    if (this.#size === 0) return undefined;
    const [onBehalfOf, queue] = this.#queues.entries().next().value!;
    const request = queue.values().next().value!;
    queue.delete(request);
    this.#size--;
    this.#queues.delete(onBehalfOf);
    if (queue.size > 0) this.#queues.set(onBehalfOf, queue);
    return request;
  }

  takeAll(): Request[] {
    const all = [...this.#queues.values()].flatMap((queue) => [...queue]);
    this.#queues.clear();
    this.#size = 0;
    return all;
  }
}

/** The error of requests that still wait when the client is closed. */
export function stopping(): Error {
  return new Error('The gateway is stopping.');
}
