import type { Spent } from '../../frame-list.ts';
import type { MarkedPrefix } from '../../prefix-memory.ts';
import type { UsageFault } from '../../script.ts';
import { countWriter } from '../../usage-fault.ts';

/** The input counts; cached tokens, read or written, are part of promptTokens. */
export interface AskedTokens extends MarkedPrefix {
  readonly promptTokens: number;
}

/** Usage in the first event of a stream, or in a buffered message. */
export function writeUsage(asked: AskedTokens, spent: Spent, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  const minutes = asked.cacheWriteTokens - asked.cacheWrite1hTokens;
  return (
    `{${inputMembers(asked, count)},"cache_creation":{"ephemeral_5m_input_tokens":${count(minutes)},` +
    `"ephemeral_1h_input_tokens":${count(asked.cacheWrite1hTokens)}},${outputMembers(spent, count)},` +
    '"service_tier":"standard","inference_geo":"not_available"}'
  );
}

/** Usage in the last event: totals, not increments. */
export function writeFinalUsage(asked: AskedTokens, spent: Spent, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  return `{${inputMembers(asked, count)},${outputMembers(spent, count)}}`;
}

type Count = (tokens: number) => number | string;

function inputMembers({ promptTokens, cachedTokens, cacheWriteTokens }: AskedTokens, count: Count): string {
  return (
    `"input_tokens":${count(promptTokens - cachedTokens - cacheWriteTokens)},` +
    `"cache_creation_input_tokens":${count(cacheWriteTokens)},"cache_read_input_tokens":${count(cachedTokens)}`
  );
}

function outputMembers({ outputTokens, reasoningTokens }: Spent, count: Count): string {
  const thought = `"output_tokens_details":{"thinking_tokens":${count(reasoningTokens)}}`;
  const said = `"output_tokens":${count(outputTokens)}`;
  return reasoningTokens === 0 ? said : `${said},${thought}`;
}
