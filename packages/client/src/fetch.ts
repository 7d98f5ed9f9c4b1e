/** The part of the web's `fetch` that clients use; narrower than the global type, which differs between platforms. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Looked up at each call, so that a page or a test may replace the global one. */
export const globalFetch: Fetch = (input, init) => globalThis.fetch(input, init);

export function urlOf(input: string | URL | Request): string {
  return (input as Partial<Request>).url ?? String(input);
}

/** The headers that `fetch` would send: those of `init` replace those of a Request. */
export function headersOf(input: string | URL | Request, init?: RequestInit): Headers {
  return new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
}

/**
 * Aborted as soon as the request's own signal is, or this one. Null if there is neither. A signal of both is made only if
 * they differ: some platforms keep it for as long as the longer-lived of them.
 */
export function signalOf(
  input: string | URL | Request,
  init: RequestInit | undefined,
  other: AbortSignal | undefined,
): AbortSignal | null {
  const own = init?.signal ?? (input instanceof Request ? input.signal : null);
  return own && other && own !== other ? AbortSignal.any([own, other]) : (own ?? other ?? null);
}

/** The second is that of `AbortSignal.timeout`. */
const ABORTS = ['AbortError', 'TimeoutError'];

/** The caller gave up. */
export function isAbort(error: unknown, signal?: AbortSignal | null): boolean {
  return signal?.aborted === true || (error instanceof Error && ABORTS.includes(error.name));
}

/** Throws if the caller gave up: the reason, if there is one. */
export function throwIfAbort(error: unknown, signal?: AbortSignal | null): void {
  signal?.throwIfAborted();
  if (isAbort(error)) throw error;
}

/** Random and unique, also on pages without https, which have no `crypto.randomUUID`. */
export function randomId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return prefix + Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
