import type { Usage } from '../../answer.ts';
import type { UsageFault } from '../../script.ts';
import { countWriter } from '../../usage-fault.ts';

/** The vendor's full usage object as JSON, with counts changed as the fault says. */
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
