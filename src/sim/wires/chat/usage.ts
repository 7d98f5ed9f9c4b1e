import type { Usage } from '../../answer.ts';
import type { UsageFault } from '../../script.ts';

/** The vendor's full usage object as JSON, its counts spoiled as the fault says. */
export function writeUsage(usage: Usage, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  const prompt = usage.promptTokens;
  const output = usage.outputTokens;
  return (
    `{"prompt_tokens":${count(prompt)},"completion_tokens":${count(output)},"total_tokens":${count(prompt + output)},` +
    `"prompt_tokens_details":{"cached_tokens":${count(usage.cachedTokens)},` +
    `"cache_write_tokens":${count(usage.cacheWriteTokens)},"audio_tokens":0},` +
    `"completion_tokens_details":{"reasoning_tokens":${count(usage.reasoningTokens)},"audio_tokens":0,` +
    '"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}'
  );
}

function countWriter(fault: UsageFault | undefined): (tokens: number) => number | string {
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

/** Where a stream carries usage. */
export interface UsagePlacement {
  /** What stands on every chunk that carries none: `null` when usage was asked for, nothing at all otherwise. */
  readonly elsewhere: '' | ',"usage":null';
  readonly onEveryChunk: boolean;
  readonly onFirstContent: boolean;
  readonly onLastChunk: boolean;
}

export function placeUsage(asked: boolean, fault: UsageFault | undefined): UsagePlacement {
  const withheld = fault === 'omit' || fault === 'early-only';
  return {
    elsewhere: asked && !withheld ? ',"usage":null' : '',
    onEveryChunk: fault === 'repeat',
    onFirstContent: fault === 'early-only',
    onLastChunk: asked && !withheld,
  };
}
