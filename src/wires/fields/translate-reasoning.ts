import type { CanonicalReasoning } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { limitFieldOf, type Peek } from '../peek.ts';
import { BUDGET } from './lost-budget.ts';
import { isAbsent, isObject, type Members } from './members.ts';
import { noteOthers } from './other-members.ts';
import { asksToReason, contradiction, OWN_REASONING_MEMBERS } from './read-reasoning.ts';
import { readThinkingBudget } from './thinking-budget.ts';
import { hasNoEffect } from './without-effect.ts';

/** Members of `reasoning` that are translated, or that ask for text which other wires send anyway. */
const READ_MEMBERS = ['effort', 'summary', 'generate_summary', ...OWN_REASONING_MEMBERS];

const SWITCH = 'enable_thinking';

/** Some hosts of the chat wire have this field to switch reasoning off. */
export function disablesThinking({ enable_thinking: enabled }: Members): boolean {
  return enabled === false;
}

/** The reasoning that a request asks for on a wire without `thinking`. Callers send `thinking` there all the same. */
export function translateReasoning(body: Members, peek: Peek, adjustments: Adjustments): CanonicalReasoning | null {
  noteOtherMembers(body.reasoning, adjustments);
  const thinking = readThinking(body, peek, adjustments);
  const { reasoning } = peek;
  if (reasoning === null) {
    if (thinking !== null) nameAsThinking(adjustments);
    return thinking;
  }
  adjustments.rename('reasoning', reasoning.param);
  const asked = { effort: reasoning.effort, budgetTokens: reasoning.budgetTokens };
  if (thinking === null) return asked;
  if (!doAgree(asked, thinking)) {
    const field = disablesThinking(body) ? SWITCH : 'thinking';
    throw contradiction(field, `\`${field}\` and \`${reasoning.param}\``);
  }
  if (saysHowMuch(asked) && !isOff(thinking)) return asked;
  nameAsThinking(adjustments);
  return thinking;
}

function nameAsThinking(adjustments: Adjustments): void {
  adjustments.rename('reasoning', 'thinking');
  adjustments.rename(BUDGET, 'thinking.budget_tokens');
}

/** A wish for thinking that is not a number of tokens agrees with every amount. */
function doAgree(asked: CanonicalReasoning, thinking: CanonicalReasoning): boolean {
  if (isOff(thinking)) return !asksToReason(asked);
  if (thinking.budgetTokens === null || !saysHowMuch(asked)) return !isOff(asked);
  return asked.budgetTokens === thinking.budgetTokens;
}

function isOff({ effort }: CanonicalReasoning): boolean {
  return effort === 'none';
}

function saysHowMuch({ effort, budgetTokens }: CanonicalReasoning): boolean {
  return effort !== null || budgetTokens !== null;
}

/** Summaries are what other wires show in any case. */
const THINKING_MEMBERS: ReadonlySet<string> = new Set(['type', 'budget_tokens']);
const SUMMARIZED_MEMBERS: ReadonlySet<string> = new Set([...THINKING_MEMBERS, 'display']);

/** What the fields of other vendors that switch reasoning on or off ask for; null if there are none. */
function readThinking(body: Members, peek: Peek, adjustments: Adjustments): CanonicalReasoning | null {
  const thinking = readThinkingObject(body.thinking, peek, adjustments);
  if (!disablesThinking(body)) return thinking;
  if (thinking !== null) refuseSwitchedOff(thinking, 'thinking');
  return OFF;
}

/** For a request that says `enable_thinking: false` beside this. */
export function refuseSwitchedOff(asked: CanonicalReasoning, param: string): void {
  if (asksToReason(asked)) throw contradiction(SWITCH, `\`${SWITCH}\` and \`${param}\``);
}

function readThinkingObject(thinking: unknown, peek: Peek, adjustments: Adjustments): CanonicalReasoning | null {
  if (hasNoEffect('thinking', thinking)) return null;
  const type = isObject(thinking) ? thinking.type : null;
  if (type === 'disabled') return OFF;
  if (!isObject(thinking) || (type !== 'enabled' && type !== 'adaptive')) {
    adjustments.dropUnknown('thinking', thinking);
    return null;
  }
  noteOthers(
    thinking,
    'thinking',
    thinking.display === 'summarized' ? SUMMARIZED_MEMBERS : THINKING_MEMBERS,
    adjustments,
  );
  if (!isAbsent(thinking.budget_tokens)) return { effort: null, budgetTokens: readBudget(thinking, peek) };
  return type === 'adaptive' ? ADAPTIVE : ENABLED;
}

const OFF: CanonicalReasoning = { effort: 'none', budgetTokens: null };
/** The same effort as for `reasoning.enabled`. */
const ENABLED: CanonicalReasoning = { effort: 'medium', budgetTokens: null };
/** The default effort of adaptive thinking on the messages wire. */
const ADAPTIVE: CanonicalReasoning = { effort: 'high', budgetTokens: null };

function readBudget(thinking: Members, peek: Peek): number {
  const tokens = peek.outputLimit?.tokens ?? peek.defaultOutputLimit;
  return readThinkingBudget(thinking, { tokens, field: limitFieldOf(peek) });
}

function noteOtherMembers(reasoning: unknown, adjustments: Adjustments): void {
  if (!isObject(reasoning)) return;
  for (const name of Object.keys(reasoning)) {
    if (READ_MEMBERS.includes(name) || hasNoEffect(name, reasoning[name])) continue;
    adjustments.noteUnknown(name, reasoning[name], `reasoning.${name}`);
  }
}
