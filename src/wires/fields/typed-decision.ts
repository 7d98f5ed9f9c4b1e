import { inputTokens, MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { type JsonText, readJson } from '../../json/json.ts';
import type { Bill } from '../bill.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import type { Peek } from '../peek.ts';
import type { HostQuirks } from '../quirks.ts';
import { readCounts, usageRule } from '../usage/inclusive-usage.ts';
import { withCost } from '../usage/prompt-usage.ts';
import { HostAnswerBroken } from '../wire.ts';
import { withoutHostBill } from './host-members.ts';
import { readLabels } from './labels.ts';
import { isAbsent, isObject, type Members } from './members.ts';
import { refuseStream } from './refuse-stream.ts';
import { OTHER_PRICES, REFUSED_EVERYWHERE, type Refusals, refuseUnlessHarmless } from './refused-fields.ts';
import { mustBe } from './request-errors.ts';

const REFUSED_FIELDS: Refusals = { ...REFUSED_EVERYWHERE, ...OTHER_PRICES };

/** Fields that are refused if they ask for something, and mean nothing to a host if they do not. */
export function isRefusable(name: string): boolean {
  return Object.hasOwn(REFUSED_FIELDS, name);
}

/** What both spellings of a typed decision share: input is billed by what is sent, output is free. */
export function decisionPeek(model: string, body: Members, bytes: number): Peek {
  for (const name of Object.keys(body)) {
    if (isRefusable(name)) refuseUnlessHarmless(REFUSED_FIELDS, body, name);
  }
  refuseStream(body, 'typed decisions');
  return {
    model,
    stream: false,
    wantsUsageFrame: false,
    outputLimit: null,
    defaultOutputLimit: 0,
    answers: 1,
    needs: [{ capability: 'decisions', param: 'model' }],
    // Questions are written out for the model, names and criteria alike, so the whole body weighs as schema.
    size: { textBytes: 0, toolBytes: bytes, messages: 1, tools: 0, images: 0, tokenIds: 0 },
    labels: readLabels(body),
    reasoning: null,
  };
}

/** State, instructions and criteria are text or structure; a bare number or truth value says nothing by itself. */
export function checkEntry(entry: unknown, path: string): void {
  if (typeof entry === 'number' || typeof entry === 'boolean') {
    throw mustBe(path, 'a string, an object, a list or null');
  }
}

/** A host's answer to the questions of these names, or the error that says it is none. */
export function readDecision(body: Buffer, names: readonly string[]): JsonText {
  let text: JsonText | null = null;
  try {
    text = readJson(body);
  } catch {
    // Said below, as for any other answer that is none.
  }
  const answer = text !== null && isObject(text.value) ? text.value : {};
  if (text === null || !isObject(answer.answers) || isObject(answer.error)) {
    const error = answer.error ? readErrorMember(answer.error) : null;
    throw new HostAnswerBroken('The host answered with something that has no answers.', error);
  }
  for (const name of names) if (ownObject(answer.answers, name) === null) throw unanswered();
  return text;
}

/** An answer, or the probabilities in one: names are the caller's, and some are also those of every object's methods. */
export function ownObject(holder: Members, name: string): Members | null {
  const value = Object.hasOwn(holder, name) ? holder[name] : null;
  return isObject(value) ? value : null;
}

export function unanswered(): HostAnswerBroken {
  return new HostAnswerBroken('The host left a question unanswered.');
}

/** Output is free, but counted; only the input is billed. */
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

/** The billed counts in the place of the host's, and what they cost. */
export function decisionUsageText(bill: Bill, raw: unknown): string {
  const { usage } = bill;
  const counts = { input_tokens: inputTokens(usage), output_tokens: usage.outputTokens };
  return withCost({ ...withoutHostBill(raw), ...counts }, bill);
}
