import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { PromptSize, PromptTexts } from '../../canonical/prompt-size.ts';
import { inputTokens, MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { type JsonText, readJson } from '../../json/json.ts';
import type { Bill } from '../bill.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import type { Peek } from '../peek.ts';
import { readCounts, usageRule } from '../usage/inclusive-usage.ts';
import { withCost } from '../usage/prompt-usage.ts';
import { HostResponseBroken } from '../wire.ts';
import { anObject, checkField } from './field-checks.ts';
import { withoutHostBill } from './host-members.ts';
import { readLabels } from './labels.ts';
import { isAbsent, isObject, type Members } from './members.ts';
import { PromptMeasure, TextCollector, visitUnknown } from './prompt-visitor.ts';
import { refuseStream } from './refuse-stream.ts';
import { OTHER_PRICES, REFUSED_EVERYWHERE, type Refusals, refuseUnlessHarmless } from './refused-fields.ts';
import { mustBe } from './request-errors.ts';

const REFUSED_FIELDS: Refusals = { ...REFUSED_EVERYWHERE, ...OTHER_PRICES };

/** Fields that are refused unless their value has no effect. */
export function isRefusable(name: string): boolean {
  return Object.hasOwn(REFUSED_FIELDS, name);
}

/** Fields that only this gateway reads. */
export const GATEWAY_FIELDS: readonly string[] = ['stream', 'usage'];

/** The part of peek that both decision wires share. Input is billed, output is free. */
export function decisionPeek(model: string, body: Members, bytes: Buffer, promptParam: 'state' | 'input'): Peek {
  for (const name of Object.keys(body)) {
    if (isRefusable(name)) refuseUnlessHarmless(REFUSED_FIELDS, body, name);
  }
  refuseStream(body, 'typed decisions');
  if (!isAbsent(body.usage)) checkField('usage', body.usage, anObject);
  return {
    model,
    stream: false,
    wantsUsageFrame: false,
    promptParam,
    outputLimit: null,
    defaultOutputLimit: 0,
    answers: 1,
    needs: [{ capability: 'decisions', param: 'model' }],
    size: measureDecision(bytes),
    countsAsSchema: true,
    labels: readLabels(body),
    reasoning: null,
  };
}

/** The model reads the names and criteria of all questions, so the whole body counts as schema. */
function measureDecision(body: Buffer): PromptSize {
  const measure = new PromptMeasure();
  measure.json(body);
  return measure.size(1, 0);
}

/** What the questions are about: texts that the model reads, in whatever form its host writes them. */
export function decisionSubject({ value }: JsonText): string[] {
  const { state, input } = value as Members;
  const collector = new TextCollector();
  visitUnknown(state ?? input, collector);
  return collector.texts;
}

/** The text that `decisionPeek` measures, for a token count. */
export function decisionTexts({ bytes }: JsonText): PromptTexts {
  return { texts: [], toolTexts: [bytes.toString()] };
}

/** State, instructions and criteria must be text or structure, not a bare number or boolean. */
export function checkEntry(entry: unknown, path: string): void {
  if (typeof entry === 'number' || typeof entry === 'boolean') {
    throw mustBe(path, 'a string, an object, a list or null');
  }
}

/** Reads a host's response; throws HostResponseBroken unless it answers every question. */
export function readDecision(body: Buffer, names: readonly string[]): JsonText {
  let text: JsonText | null = null;
  try {
    text = readJson(body);
  } catch {
    // Reported below, like any other invalid response.
  }
  const answer = text !== null && isObject(text.value) ? text.value : {};
  if (text === null || !isObject(answer.answers) || isObject(answer.error)) {
    const error = answer.error ? readErrorMember(answer.error) : null;
    throw new HostResponseBroken("The host's response has no `answers`.", error);
  }
  for (const name of names) if (ownObject(answer.answers, name) === null) throw unanswered();
  return text;
}

/** Reads an own member only: names come from the caller and may be those of inherited methods. */
export function ownObject(holder: Members, name: string): Members | null {
  const value = Object.hasOwn(holder, name) ? holder[name] : null;
  return isObject(value) ? value : null;
}

export function unanswered(): HostResponseBroken {
  return new HostResponseBroken('The host left a question unanswered.');
}

/** Output is counted but free; only input is billed. */
export function readDecisionUsage(raw: unknown, quirks: HostQuirks): UsageReading {
  if (isAbsent(raw)) return MISSING_USAGE;
  if (!isObject(raw)) return { state: 'missing', defect: 'usage is not an object' };
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {};
  const counts = {
    input: raw.input_tokens,
    output: raw.output_tokens ?? 0,
    total: null,
    cached: details.cached_tokens ?? 0,
    cacheWrite: details.cache_write_tokens ?? 0,
    reasoning: 0,
  };
  return readCounts(counts, usageRule(quirks));
}

/** The host's usage with the billed counts and their cost. */
export function decisionUsageText(bill: Bill, raw: unknown): string {
  const { usage } = bill;
  const counts = { input_tokens: inputTokens(usage), output_tokens: usage.outputTokens };
  return withCost({ ...withoutHostBill(raw), ...counts }, bill);
}
