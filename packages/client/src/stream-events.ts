import { isObject, type JsonObject, tryParse } from './json.ts';
import type { SseEvent } from './sse.ts';

/**
 * What an event means for the call: `opening` says nothing yet, `content` is part of the answer, `end` is the event
 * after which a stream is complete, and `error` is a failure inside a response that began with 200.
 */
export type Meaning = 'opening' | 'content' | 'end' | 'error';

export interface StreamEvent {
  readonly meaning: Meaning;
  /** Null for `[DONE]`, and for data that is not a JSON object. */
  readonly body: JsonObject | null;
}

const ENDS = ['message_stop', 'response.completed', 'response.incomplete'];

/** Events of every wire; they differ enough that they cannot be confused with those of another wire. */
export function readStreamEvent({ event, data }: SseEvent): StreamEvent {
  if (data === '[DONE]') return { meaning: 'end', body: null };
  const parsed = tryParse(data);
  const body = isObject(parsed) ? parsed : null;
  return { meaning: body === null ? 'opening' : meaningOf(event, body), body };
}

function meaningOf(event: string, body: JsonObject): Meaning {
  const type = String(body.type ?? '');
  if (event === 'error' || type === 'error' || type === 'response.failed' || isObject(body.error)) return 'error';
  if (ENDS.includes(type)) return 'end';
  const isContent = /[._]delta$/.test(type) || type === 'response.output_item.done';
  return isContent || hasChoice(body) ? 'content' : 'opening';
}

/** Whether a chunk of the chat or completions wire has more than the role of the speaker. */
function hasChoice({ choices }: JsonObject): boolean {
  if (!Array.isArray(choices)) return false;
  return choices.filter(isObject).some((choice) => {
    const { role: _, ...delta } = isObject(choice.delta) ? choice.delta : {};
    const given = [...Object.values(delta), choice.text, choice.finish_reason];
    return given.some((value) => value != null && value !== '');
  });
}

/** The error object of an `error` event. */
export function errorIn(body: JsonObject): JsonObject {
  const response = isObject(body.response) ? body.response : {};
  const error = body.error ?? response.error;
  return isObject(error) ? error : body;
}
