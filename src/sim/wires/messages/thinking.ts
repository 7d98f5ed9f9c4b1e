import { type Fields, isAbsent, isFields } from '../../fields.ts';
import type { Effort } from '../../prompt.ts';
import { isSealOf, type SealTerms, sealThought } from '../../signatures.ts';
import { reject } from './errors.ts';

/** How much the model reasons, and how much of it is shown. */
export interface Thinking {
  readonly effort: Effort;
  readonly shown: boolean;
  /** A turn with tool calls must come back with its reasoning first. */
  readonly mustComeBack: boolean;
}

const NO_THINKING: Thinking = { effort: 'none', shown: false, mustComeBack: false };

const BUDGET_TOKENS_MIN = 1024;
const EFFORT_WORDS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'] satisfies Effort[];

/** Newer models decide themselves how long to reason and reject a budget. */
export function isAdaptiveOnly(model: string): boolean {
  return model.includes('adaptive');
}

export function readThinking(body: Fields, model: string, outputTokensMax: number): Thinking {
  const effort = readEffort(body.output_config);
  const { thinking } = body;
  if (isAbsent(thinking)) return NO_THINKING;
  const asked = isFields(thinking) ? thinking : {};
  switch (asked.type) {
    case 'disabled':
      return NO_THINKING;
    case 'adaptive':
      return { effort: effort ?? 'high', shown: readShown(asked, model), mustComeBack: false };
    case 'enabled':
      return { effort: readBudget(asked, model, outputTokensMax), shown: readShown(asked, model), mustComeBack: true };
    default:
      return reject("thinking: Input tag found using 'type' must be one of 'adaptive', 'disabled', 'enabled'");
  }
}

function readEffort(config: unknown): Effort | null {
  const effort = isFields(config) ? config.effort : undefined;
  if (isAbsent(effort)) return null;
  if (EFFORT_WORDS.includes(effort)) return effort as Effort;
  return reject(`output_config.effort: Input should be ${EFFORT_WORDS.map((word) => `'${word}'`).join(', ')}`);
}

function readShown(asked: Fields, model: string): boolean {
  const { display } = asked;
  if (isAbsent(display)) return !isAdaptiveOnly(model);
  if (display === 'summarized') return true;
  // Only progress between tool calls has text with "updates", and this host writes none.
  if (display === 'omitted' || display === 'updates') return false;
  return reject("thinking.display: Input should be 'summarized', 'omitted' or 'updates'");
}

function readBudget(asked: Fields, model: string, outputTokensMax: number): Effort {
  if (isAdaptiveOnly(model)) {
    reject(
      '"thinking.type.enabled" is not supported for this model. ' +
        'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    );
  }
  const budget = asked.budget_tokens;
  if (budget === undefined) return reject('thinking.enabled.budget_tokens: Field required');
  if (!Number.isSafeInteger(budget) || (budget as number) < BUDGET_TOKENS_MIN) {
    reject(`thinking.enabled.budget_tokens: Input should be greater than or equal to ${BUDGET_TOKENS_MIN}`);
  }
  if ((budget as number) >= outputTokensMax) reject('`max_tokens` must be greater than `thinking.budget_tokens`.');
  return effortOf(budget as number);
}

/** A larger budget gives longer reasoning, in steps that tests can count. */
function effortOf(budgetTokens: number): Effort {
  if (budgetTokens < 2048) return 'low';
  if (budgetTokens < 8192) return 'medium';
  return budgetTokens < 32_768 ? 'high' : 'max';
}

export function signThought(model: string, thought: string, shown: string): string {
  return sealThought(signatureTerms(model, shown), thought);
}

export function redactThought(model: string, thought: string): string {
  return sealThought(redactionTerms(model), thought);
}

/** Refuses a block that this simulator did not create, or that was changed, as the vendor does. */
export function checkThinkingBlock(block: Fields, model: string, path: string): void {
  if (block.type === 'redacted_thinking') {
    checkRedacted(block, model, path);
    return;
  }
  const { thinking, signature } = block;
  if (typeof thinking !== 'string') reject(`${path}.thinking.thinking: Field required`);
  if (typeof signature !== 'string') reject(`${path}.thinking.signature: Field required`);
  if (!isSealOf(signatureTerms(model, thinking), signature))
    reject(`${path}: Invalid \`signature\` in \`thinking\` block`);
}

function checkRedacted({ data }: Fields, model: string, path: string): void {
  if (typeof data !== 'string') reject(`${path}.redacted_thinking.data: Field required`);
  if (!isSealOf(redactionTerms(model), data)) reject(`${path}: Invalid \`data\` in \`redacted_thinking\` block`);
}

function signatureTerms(model: string, shown: string): SealTerms {
  return { kind: 'signature', model, shown };
}

function redactionTerms(model: string): SealTerms {
  return { kind: 'redacted', model, shown: '' };
}
