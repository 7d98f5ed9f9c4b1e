import type { UsageFault } from '../../script.ts';
import { countWriter } from '../../usage-fault.ts';

export function writeUsage(promptTokens: number, outputTokens: number, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  return (
    `{"prompt_tokens":${count(promptTokens)},"completion_tokens":${count(outputTokens)},` +
    `"total_tokens":${count(promptTokens + outputTokens)}}`
  );
}
