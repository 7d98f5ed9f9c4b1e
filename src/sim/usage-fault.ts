import type { UsageFault } from './script.ts';

/** Writes a count as JSON, changed as the fault says. */
export function countWriter(fault: UsageFault | undefined): (tokens: number) => number | string {
  switch (fault) {
    case 'zero':
      return () => 0;
    case 'negative':
      // A count of zero has no sign, so all counts are moved below zero.
      return (tokens) => -1 - tokens;
    case 'fraction':
      return (tokens) => tokens + 0.5;
    case 'string':
      return (tokens) => `"${tokens}"`;
    default:
      return typeof fault === 'object' ? (tokens) => Math.ceil(tokens * fault.inflate) : (tokens) => tokens;
  }
}

/** Whether the final usage is missing: not sent at all, or only early in the stream. */
export function isWithheld(fault: UsageFault | undefined): boolean {
  return fault === 'omit' || fault === 'early-only';
}

/** Where a stream of chunks carries usage. */
export interface UsagePlacement {
  /** The value on chunks without usage: `null` if usage was requested, otherwise absent. */
  readonly elsewhere: '' | ',"usage":null';
  readonly onEveryChunk: boolean;
  readonly onFirstContent: boolean;
  readonly onLastChunk: boolean;
}

export function placeUsage(asked: boolean, fault: UsageFault | undefined): UsagePlacement {
  const given = asked && !isWithheld(fault);
  return {
    elsewhere: given ? ',"usage":null' : '',
    onEveryChunk: fault === 'repeat',
    onFirstContent: fault === 'early-only',
    onLastChunk: given,
  };
}
