import { GatewayError } from '../../canonical/errors.ts';
import { EFFORTS, type Effort, isEffort, type ReasoningAsk } from '../../canonical/reasoning.ts';
import type { CanonicalReasoning } from '../../canonical/request.ts';
import { isAbsent, isObject, type Members } from './members.ts';
import { invalidValue, mustBe } from './request-errors.ts';

/** The value of each field; null if it is absent. */
interface Spellings {
  /** `reasoning_effort` */
  readonly word: Effort | null;
  /** The members of `reasoning` */
  readonly effort: Effort | null;
  readonly budgetTokens: number | null;
  readonly enabled: boolean | null;
  readonly exclude: boolean | null;
  /** `include_reasoning` */
  readonly include: boolean | null;
}

/** Members of `reasoning` that only this gateway reads. */
export const OWN_REASONING_MEMBERS: readonly string[] = ['max_tokens', 'enabled', 'exclude'];

/** Reads every field that asks for reasoning; several may be given if they agree. Null if none is. */
export function readReasoning(body: Members): ReasoningAsk | null {
  const said = readSpellings(body);
  if (saysNothing(said)) return null;
  refuseContradictions(said);
  return {
    effort: effortOf(said),
    budgetTokens: said.budgetTokens,
    hideReasoning: said.exclude ?? said.include === false,
    param: said.word !== null ? 'reasoning_effort' : 'reasoning',
  };
}

const MEMBERS = ['effort', ...OWN_REASONING_MEMBERS];

/** The same on wires whose hosts do not get the `reasoning` object: unknown members would be lost, so they are refused. */
export function readWithheldReasoning(body: Members): ReasoningAsk | null {
  const { reasoning } = body;
  const unknown = isObject(reasoning)
    ? Object.keys(reasoning).find((name) => !isAbsent(reasoning[name]) && !MEMBERS.includes(name))
    : undefined;
  if (unknown === undefined) return readReasoning(body);
  throw new GatewayError('unsupported_parameter', {
    param: `reasoning.${unknown}`,
    message: `\`reasoning.${unknown}\` is not supported on this route; \`reasoning\` takes ${MEMBERS.join(', ')}.`,
  });
}

function saysNothing({ word, effort, budgetTokens, enabled, exclude, include }: Spellings): boolean {
  if (word !== null || effort !== null || budgetTokens !== null) return false;
  return enabled === null && exclude === null && include === null;
}

/** Hiding reasoning, or switching it off, needs no capability. */
export function asksToReason({ effort, budgetTokens }: CanonicalReasoning): boolean {
  return budgetTokens !== null || (effort !== null && effort !== 'none');
}

/** Switching reasoning on without an effort means medium effort. */
function effortOf({ word, effort, budgetTokens, enabled }: Spellings): Effort | null {
  const named = word ?? effort;
  if (named !== null || enabled === null) return named;
  if (!enabled) return 'none';
  return budgetTokens === null ? 'medium' : null;
}

/** Each pair of fields that contradict each other, and the field to report. */
function refuseContradictions({ word, effort, budgetTokens, enabled, exclude, include }: Spellings): void {
  if (word !== null && effort !== null && word !== effort) {
    throw contradiction('reasoning_effort', '`reasoning_effort` and `reasoning.effort`');
  }
  if (word !== null && budgetTokens !== null) {
    throw contradiction('reasoning.max_tokens', '`reasoning_effort` and `reasoning.max_tokens`');
  }
  if (effort !== null && budgetTokens !== null) {
    throw contradiction('reasoning', '`reasoning.effort` and `reasoning.max_tokens`');
  }
  const named = word ?? effort;
  const thinks = budgetTokens !== null || (named !== null && named !== 'none');
  if ((enabled === true && named === 'none') || (enabled === false && thinks)) {
    throw contradiction('reasoning.enabled', '`reasoning.enabled` and the effort');
  }
  if (include !== null && exclude === include) {
    throw contradiction('include_reasoning', '`include_reasoning` and `reasoning.exclude`');
  }
}

export function contradiction(param: string, pair: string): Error {
  return invalidValue(param, `${pair} contradict each other; send one.`);
}

function readSpellings(body: Members): Spellings {
  const { reasoning } = body;
  if (!isAbsent(reasoning) && !isObject(reasoning)) throw mustBe('reasoning', 'an object with `effort`');
  const object = isObject(reasoning) ? reasoning : {};
  return {
    word: readEffort(body.reasoning_effort, 'reasoning_effort'),
    effort: readEffort(object.effort, 'reasoning.effort'),
    budgetTokens: readBudget(object.max_tokens),
    enabled: readFlag(object.enabled, 'reasoning.enabled'),
    exclude: readFlag(object.exclude, 'reasoning.exclude'),
    include: readFlag(body.include_reasoning, 'include_reasoning'),
  };
}

function readEffort(value: unknown, param: string): Effort | null {
  if (isAbsent(value)) return null;
  if (isEffort(value)) return value;
  throw mustBe(param, `one of ${EFFORTS.join(', ')}`);
}

function readBudget(value: unknown): number | null {
  if (isAbsent(value)) return null;
  if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
  throw mustBe('reasoning.max_tokens', 'a positive integer');
}

function readFlag(value: unknown, param: string): boolean | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'boolean') return value;
  throw mustBe(param, 'true or false');
}
