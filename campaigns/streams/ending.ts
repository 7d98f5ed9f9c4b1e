import type { RawAnswer } from '../../test/raw-client.ts';

/** How a client of this wire sees a response. */
interface Ending {
  readonly how: 'clean' | 'error' | 'cut';
  /** What no response of ours may contain, whatever its host did. */
  readonly faults: readonly string[];
}

interface Event {
  readonly name: string | null;
  readonly data: string;
}

export function endingOf(wire: string, stream: boolean, answer: RawAnswer): Ending {
  if (answer.ended === 'cut') return { how: 'cut', faults: [] };
  if (answer.status !== 200) return refused(answer);
  return stream ? streamed(wire, answer.text) : buffered(answer);
}

const REFUSALS = new Set([400, 422, 429, 502, 503, 504, 529]);

function refused({ status, text }: RawAnswer): Ending {
  const faults = REFUSALS.has(status) ? [] : [`status ${status}`];
  const body = parsed(text) as { error?: { message?: unknown } } | undefined;
  if (typeof body?.error?.message !== 'string') faults.push(`status ${status} without our envelope`);
  return { how: 'error', faults };
}

function buffered({ text }: RawAnswer): Ending {
  const body = parsed(text) as { error?: unknown } | undefined;
  if (typeof body !== 'object' || body === null)
    return { how: 'clean', faults: ['a whole response that is not an object'] };
  const isError = typeof body.error === 'object' && body.error !== null && !Array.isArray(body.error);
  return { how: 'clean', faults: isError ? ['an error in a whole answer'] : [] };
}

function streamed(wire: string, text: string): Ending {
  const events = eventsOf(text);
  const faults: string[] = [];
  const ends = events.flatMap((event, at) => (isEnd(wire, event) ? [at] : []));
  if (ends.length > 1) faults.push(`${ends.length} ends`);
  const last = events.at(-1);
  const odd = events.find(({ data }) => data !== '[DONE]' && typeof parsed(data) !== 'object');
  if (odd !== undefined) faults.push(`a frame that is not a JSON object: ${odd.data.slice(0, 80)}`);
  if (ends.length === 0) {
    if (last === undefined || !isError(last)) faults.push(`no end and no error: ${last?.data.slice(0, 80)}`);
    return { how: 'error', faults };
  }
  const behind = events.slice(ends[0]! + 1).filter(({ name }) => name !== 'gateway_receipt');
  if (behind.length > 0) faults.push(`something after the end: ${behind[0]!.data.slice(0, 80)}`);
  if (events.some(isError)) faults.push('an error and an end');
  return { how: 'clean', faults };
}

function isEnd(wire: string, { name, data }: Event): boolean {
  if (wire === 'messages') return name === 'message_stop';
  if (wire === 'responses') return name === 'response.completed' || name === 'response.incomplete';
  return data === '[DONE]';
}

function isError({ name, data }: Event): boolean {
  if (name === 'error' || name === 'response.failed') return true;
  const body = parsed(data) as { error?: unknown } | undefined;
  return typeof body === 'object' && body !== null && Boolean(body.error);
}

function eventsOf(text: string): Event[] {
  return text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((block) => {
    const lines = block.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith(':'));
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.replace(/^data: ?/, ''));
    if (data.length === 0) return [];
    const name = lines.findLast((line) => line.startsWith('event:'))?.replace(/^event: ?/, '') ?? null;
    return [{ name, data: data.join('\n') }];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
