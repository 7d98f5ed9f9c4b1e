import { EFFORTS, type Effort, isEffort, type ReasoningAsk } from '../../canonical/reasoning.ts';
import { invalidValue, isObject } from './fields.ts';

type Body = Readonly<Record<string, unknown>>;

/** Reads the three spellings of one wish; they may all stand there as long as they agree. */
export function readReasoning(body: Body): ReasoningAsk | null {
  const word = readWord(body.reasoning_effort);
  const object = readObject(body.reasoning);
  const include = readInclude(body.include_reasoning);
  if (word === null && object === null && include === null) return null;
  if (word !== null && object?.effort != null && word !== object.effort) {
    throw invalidValue(
      'reasoning_effort',
      '`reasoning_effort` and `reasoning.effort` contradict each other; send one.',
    );
  }
  if (word !== null && object?.budgetTokens != null) {
    throw invalidValue(
      'reasoning.max_tokens',
      '`reasoning_effort` and `reasoning.max_tokens` exclude each other; send one.',
    );
  }
  if (include !== null && object?.exclude != null && object.exclude === include) {
    throw invalidValue(
      'include_reasoning',
      '`include_reasoning` and `reasoning.exclude` contradict each other; send one.',
    );
  }
  return {
    effort: word ?? object?.effort ?? null,
    budgetTokens: object?.budgetTokens ?? null,
    hideTrace: object?.exclude ?? include === false,
    param: word !== null ? 'reasoning_effort' : object !== null ? 'reasoning' : 'include_reasoning',
  };
}

function readWord(value: unknown): Effort | null {
  if (value === undefined || value === null) return null;
  if (isEffort(value)) return value;
  throw invalidValue('reasoning_effort', `\`reasoning_effort\` must be one of ${EFFORTS.join(', ')}.`);
}

interface ReasoningObject {
  readonly effort: Effort | null;
  readonly budgetTokens: number | null;
  readonly exclude: boolean | null;
}

function readObject(value: unknown): ReasoningObject | null {
  if (value === undefined || value === null) return null;
  if (!isObject(value)) throw invalidValue('reasoning', '`reasoning` must be an object with `effort` or `max_tokens`.');
  const budget = value.max_tokens ?? null;
  if (budget !== null && !(Number.isSafeInteger(budget) && (budget as number) > 0)) {
    throw invalidValue('reasoning.max_tokens', '`reasoning.max_tokens` must be a positive integer.');
  }
  const effort = readEffort(value.effort ?? null, readFlag(value, 'enabled'), budget !== null);
  if (effort !== null && budget !== null) {
    throw invalidValue('reasoning', '`reasoning.effort` and `reasoning.max_tokens` exclude each other; send one.');
  }
  return { effort, budgetTokens: budget as number | null, exclude: readFlag(value, 'exclude') };
}

function readEffort(effort: unknown, enabled: boolean | null, hasBudget: boolean): Effort | null {
  if (effort !== null && !isEffort(effort)) {
    throw invalidValue('reasoning.effort', `\`reasoning.effort\` must be one of ${EFFORTS.join(', ')}.`);
  }
  if (enabled === null) return effort;
  const contradicts = enabled ? effort === 'none' : (effort !== null && effort !== 'none') || hasBudget;
  if (contradicts) throw invalidValue('reasoning.enabled', '`reasoning.enabled` contradicts the effort; send one.');
  if (effort !== null) return effort;
  if (!enabled) return 'none';
  return hasBudget ? null : 'medium';
}

function readFlag(object: Record<string, unknown>, name: string): boolean | null {
  const value = object[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  throw invalidValue(`reasoning.${name}`, `\`reasoning.${name}\` must be true or false.`);
}

function readInclude(value: unknown): boolean | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value;
  throw invalidValue('include_reasoning', '`include_reasoning` must be true or false.');
}
