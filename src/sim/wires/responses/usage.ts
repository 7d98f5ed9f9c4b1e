import type { AskedUsage } from '../../answer.ts';
import type { Spent } from '../../frame-list.ts';
import type { UsageFault } from '../../script.ts';
import { countWriter } from '../../usage-fault.ts';

/** The vendor's usage object as JSON, with counts changed as the fault says. */
export function writeUsage(asked: AskedUsage, spent: Spent, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  const { promptTokens, cachedTokens, cacheWriteTokens } = asked;
  return (
    `{"input_tokens":${count(promptTokens)},"input_tokens_details":{"cached_tokens":${count(cachedTokens)},` +
    `"cache_write_tokens":${count(cacheWriteTokens)}},"output_tokens":${count(spent.outputTokens)},` +
    `"output_tokens_details":{"reasoning_tokens":${count(spent.reasoningTokens)}},` +
    `"total_tokens":${count(promptTokens + spent.outputTokens)}}`
  );
}
