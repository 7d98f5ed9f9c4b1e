import type { UsageFault } from './script.ts';

/** Writes a count as JSON, spoiled as the fault says. */
export function countWriter(fault: UsageFault | undefined): (tokens: number) => number | string {
  switch (fault) {
    case 'zero':
      return () => 0;
    case 'negative':
      // Zero has no sign in a count, so everything is moved below it.
      return (tokens) => -1 - tokens;
    case 'fraction':
      return (tokens) => tokens + 0.5;
    case 'string':
      return (tokens) => `"${tokens}"`;
    default:
      return typeof fault === 'object' ? (tokens) => Math.ceil(tokens * fault.inflate) : (tokens) => tokens;
  }
}

/** No usage where the vendor gives the final one: not at all, or only early in a stream. */
export function isWithheld(fault: UsageFault | undefined): boolean {
  return fault === 'omit' || fault === 'early-only';
}

/** Where a stream of chunks carries usage. */
export interface UsagePlacement {
  /** What stands on every chunk that carries none: `null` when usage was asked for, nothing at all otherwise. */
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
