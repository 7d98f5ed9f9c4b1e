import { API } from './client.ts';
import type { Receipt } from './generated/routes.ts';
import { parseApiJson } from './json.ts';
import { authorizationHeader } from './session.ts';

interface FeedEvents {
  /** Receipts may be missing: read the list again. */
  onGap(): void;
  onReceipt(receipt: Receipt): void;
  /** The feed is refused with this status from now on, until it is open or refused with another. It is asked for all the while. */
  onRefused(status: number): void;
  onState(state: 'open' | 'waiting'): void;
}

const RETRY_MS = 2_000;

/**
 * Receipts as calls end. EventSource cannot send the header of local mode, so the stream is read by hand. Returns a function that ends it.
 */
export function followReceipts(filter: Readonly<Record<string, string | undefined>>, events: FeedEvents): () => void {
  const ending = new AbortController();
  const run = async (): Promise<void> => {
    let lastId: string | null = null;
    let refused: number | null = null;
    const onFrame = (frame: string): void => {
      lastId = deliver(frame, events) ?? lastId;
    };
    while (!ending.signal.aborted) {
      try {
        const response = await open(filter, lastId, ending.signal);
        if (!response.ok && refused !== response.status) events.onRefused(response.status);
        refused = response.ok ? null : response.status;
        if (response.ok) await read(response, onFrame);
      } catch {
        // The connection broke; the next one continues after the last event.
      }
      if (ending.signal.aborted) return;
      events.onState('waiting');
      await pause(RETRY_MS, ending.signal);
    }
  };
  void run();
  return () => ending.abort();
}

function open(
  filter: Readonly<Record<string, string | undefined>>,
  after: string | null,
  signal: AbortSignal,
): Promise<Response> {
  const named = Object.entries(filter).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const headers = { ...authorizationHeader(), ...(after === null ? {} : { 'last-event-id': after }) };
  return fetch(`${API}/receipts/feed?${new URLSearchParams(named)}`, { headers, signal });
}

async function read({ body }: Response, onFrame: (frame: string) => void): Promise<void> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let unread = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (unread + value).split('\n\n');
    unread = frames.pop() ?? '';
    for (const frame of frames) onFrame(frame);
  }
}

/** Returns the id of the event. */
function deliver(frame: string, events: FeedEvents): string | null {
  const fields = new Map(
    frame.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trim()]),
  );
  const type = fields.get('event');
  if (type === 'ready') events.onState('open');
  if (type === 'gap') events.onGap();
  if (type === 'receipt') events.onReceipt(parseApiJson(fields.get('data') ?? '') as Receipt);
  return fields.get('id') ?? null;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
