import { type Effort, isEffort, type ReasoningAsk } from '../../canonical/reasoning.ts';
import { isAbsent, isCount, isObject, type Members } from '../fields/members.ts';
import { asksToReason, readWithheldReasoning } from '../fields/read-reasoning.ts';
import { invalidValue, mustBe } from '../fields/request-errors.ts';
import { readThinkingBudget } from '../fields/thinking-budget.ts';
import type { Peek } from '../peek.ts';

const KINDS = ['enabled', 'adaptive', 'between_tools', 'disabled'];
/** The vendor's default effort for adaptive thinking. */
const ADAPTIVE_EFFORT: Effort = 'high';

/** Fields that ask for reasoning on every wire. Hosts of this one do not know them. */
export const COMMON_REASONING_FIELDS: readonly string[] = ['reasoning', 'reasoning_effort', 'include_reasoning'];

/** What the request asks for, in the fields of this wire or in those of every wire; null for the default. */
export function readThinking(body: Members): ReasoningAsk | null {
  const own = readOwnThinking(body);
  const common = readCommonReasoning(body);
  if (own === null || common === null) return own ?? common;
  if (!doAgree(own, common, body)) {
    throw invalidValue(common.param, `\`${common.param}\` and \`${own.param}\` contradict each other; send one.`);
  }
  const effort = isAdaptiveAlone(body) && statesAmount(body) ? common.effort : own.effort;
  return { ...own, effort, hideReasoning: own.hideReasoning || common.hideReasoning };
}

/** Only what the caller wrote can contradict: neither an effort that is the default, nor `reasoning.enabled` beside any thinking. */
function doAgree(own: ReasoningAsk, common: ReasoningAsk, body: Members): boolean {
  if (!saysHowMuch(common)) return true;
  if (isOff(own) || isOff(common)) return isOff(own) && isOff(common);
  if (!statesAmount(body)) return true;
  if (isAdaptiveAlone(body)) return common.budgetTokens === null;
  return own.effort === common.effort && own.budgetTokens === common.budgetTokens;
}

function isOff({ effort }: ReasoningAsk): boolean {
  return effort === 'none';
}

/** Whether the fields of every wire name an effort or a budget. */
function statesAmount({ reasoning, reasoning_effort: effort }: Members): boolean {
  return !isAbsent(effort) || (isObject(reasoning) && !(isAbsent(reasoning.effort) && isAbsent(reasoning.max_tokens)));
}

/** Whether thinking is on without an effort, which the fields of every wire may then name. */
export function isAdaptiveAlone({ thinking, output_config: config }: Members): boolean {
  return isObject(thinking) && thinking.type === 'adaptive' && readEffort(config) === null;
}

/** Null if the request has none of the fields, as almost all requests of this wire. */
export function readCommonReasoning(body: Members): ReasoningAsk | null {
  const { reasoning, reasoning_effort: effort, include_reasoning: include } = body;
  return isAbsent(reasoning) && isAbsent(effort) && isAbsent(include) ? null : readWithheldReasoning(body);
}

function saysHowMuch({ effort, budgetTokens }: ReasoningAsk): boolean {
  return effort !== null || budgetTokens !== null;
}

/** A budget, an effort or no thinking. */
function readOwnThinking(body: Members): ReasoningAsk | null {
  const effort = readEffort(body.output_config);
  const thinking = isObject(body.thinking) ? body.thinking : null;
  if (thinking === null) {
    return effort === null ? null : { effort, budgetTokens: null, hideReasoning: false, param: 'output_config.effort' };
  }
  const type = thinking.type;
  if (!KINDS.includes(type as string)) throw mustBe('thinking.type', `one of ${KINDS.join(', ')}`);
  const hideReasoning = thinking.display === 'omitted';
  if (type === 'disabled') return { effort: 'none', budgetTokens: null, hideReasoning, param: 'thinking' };
  if (type === 'enabled')
    return {
      effort: null,
      budgetTokens: readThinkingBudget(thinking, limitIn(body)),
      hideReasoning,
      param: 'thinking',
    };
  return { effort: effort ?? ADAPTIVE_EFFORT, budgetTokens: null, hideReasoning, param: 'thinking' };
}

/** The field that needs the reasoning capability; null if none does. An `output_config.effort` alone also works on other models. */
export function reasoningParam(body: Members): string | null {
  if (isObject(body.thinking) && body.thinking.type !== 'disabled') return 'thinking';
  const common = readCommonReasoning(body);
  return common !== null && asksToReason(common) ? common.param : null;
}

function readEffort(config: unknown): Effort | null {
  const effort = isObject(config) ? config.effort : null;
  if (isAbsent(effort)) return null;
  if (isEffort(effort)) return effort;
  throw mustBe('output_config.effort', 'one of low, medium, high, xhigh, max');
}

function limitIn({ max_tokens: tokens }: Members): Peek['outputLimit'] {
  return isCount(tokens) ? { tokens, field: 'max_tokens' } : null;
}
