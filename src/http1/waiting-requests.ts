/** Requests that wait for a connection, in their order. One that is given up leaves at once: it may be large, and the wait long. */
export class WaitingRequests<Request> {
  readonly #requests = new Set<Request>();

  get size(): number {
    return this.#requests.size;
  }

  add(request: Request): void {
    this.#requests.add(request);
  }

  forget(request: Request): void {
    this.#requests.delete(request);
  }

  /** The one that has waited longest; it waits no more. */
  next(): Request | undefined {
    const { value } = this.#requests.values().next();
    if (value !== undefined) this.#requests.delete(value);
    return value;
  }

  takeAll(): Request[] {
    const all = [...this.#requests];
    this.#requests.clear();
    return all;
  }
}

/** The error of requests that still wait when the client is closed. */
export function stopping(): Error {
  return new Error('The gateway is stopping.');
}
