import type { SimScript } from './script.ts';

export const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

/** One server-sent event. */
export function frameOf(data: string): string {
  return `data: ${data}\n\n`;
}

/** One server-sent event with a name. */
export function namedFrameOf(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

const EVENT_LINE = /^event: .*\n/;

/** Applies the script's line endings and comments to events; a comment is sent with the chunk after it. */
export function dressFrames(frames: readonly string[], script: SimScript): readonly string[];
export function dressFrames(frames: Iterable<string>, script: SimScript): Iterable<string>;
export function dressFrames(frames: Iterable<string>, script: SimScript): Iterable<string> {
  if (!script.crlf && !script.omitEventNames && script.commentEvery === undefined) return frames;
  return Array.isArray(frames) ? [...dressEach(frames, script)] : dressEach(frames, script);
}

function* dressEach(frames: Iterable<string>, script: SimScript): Iterable<string> {
  const every = script.commentEvery ?? Number.POSITIVE_INFINITY;
  let count = 0;
  for (const frame of frames) {
    count++;
    const event = script.omitEventNames ? frame.replace(EVENT_LINE, '') : frame;
    const commented = count % every === 0 ? `: the simulated upstream is at work\n\n${event}` : event;
    yield script.crlf ? commented.replaceAll('\n', '\r\n') : commented;
  }
}
