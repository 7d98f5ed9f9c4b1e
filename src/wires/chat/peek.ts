import { GatewayError } from '../../canonical/errors.ts';
import type { ReasoningAsk } from '../../canonical/reasoning.ts';
import type { JsonText } from '../../kit/json.ts';
import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject, type Members } from '../members.ts';
import { missing, mustBe } from '../request-errors.ts';
import type { CapabilityNeed, Peek } from '../wire.ts';
import { checkFields, LABEL_FIELDS } from './fields.ts';
import { Measure, type PromptVisitor, visitMessages, visitUnknown } from './measure.ts';
import { readReasoning } from './read-reasoning.ts';

const DEFAULT_OUTPUT_LIMIT = 4096;

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model` and `messages`.',
    });
  }
  const model = readModel(body);
  const unknownFields = checkFields(body);
  const measure = new Measure();
  measure.messages(readMessages(body));
  measure.tools(text, body);
  for (const name of unknownFields) visitUnknown(body[name], measure);
  const stream = body.stream === true;
  const reasoning = readReasoning(body);
  return {
    model,
    stream,
    wantsUsageFrame: readWantsUsage(body, stream),
    outputLimit: readOutputLimit(body),
    defaultOutputLimit: DEFAULT_OUTPUT_LIMIT,
    answers: readAnswers(body),
    needs: needsOf(body, measure.firstImage, reasoning),
    size: measure.size(),
    labels: readLabels(body),
    reasoning,
  };
}

function readModel(body: Members): string {
  const model = body.model;
  if (isAbsent(model)) throw missing('model', '`model` is missing; GET /v1/models lists what this key may use.');
  if (typeof model !== 'string' || model === '' || model.length > LIMITS.modelIdCharsMax) {
    throw mustBe('model', `a string of 1 to ${LIMITS.modelIdCharsMax} characters`);
  }
  return model;
}

function readMessages(body: Members): readonly unknown[] {
  const messages = body.messages;
  if (isAbsent(messages)) throw missing('messages', '`messages` is missing; send at least one.');
  if (!Array.isArray(messages) || messages.length === 0) throw mustBe('messages', 'a list of at least one message');
  return messages;
}

/** Both fields are read, so that a wrong one is told even where the other counts. */
function readOutputLimit(body: Members): Peek['outputLimit'] {
  const newer = readLimit(body, 'max_completion_tokens');
  const older = readLimit(body, 'max_tokens');
  return newer ?? older;
}

function readLimit(body: Members, field: string): Peek['outputLimit'] {
  const tokens = body[field];
  if (isAbsent(tokens)) return null;
  if (!isIntegerWithin(tokens, 1, Number.MAX_SAFE_INTEGER)) throw mustBe(field, 'a positive integer');
  return { tokens, field };
}

function readAnswers(body: Members): number {
  const n = body.n;
  if (isAbsent(n)) return 1;
  if (isIntegerWithin(n, 1, LIMITS.answersPerCallMax)) return n;
  throw mustBe('n', `an integer from 1 to ${LIMITS.answersPerCallMax}`);
}

function isIntegerWithin(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Asked for by this wire's own option, or by the aggregators' spelling. */
function readWantsUsage(body: Members, stream: boolean): boolean {
  const { stream_options: options, usage } = body;
  if (isObject(options)) {
    if (!stream) throw mustBe('stream_options', 'left out unless `stream` is true');
    const include = options.include_usage;
    if (!isAbsent(include) && typeof include !== 'boolean') {
      throw mustBe('stream_options.include_usage', 'true or false');
    }
    if (include === true) return true;
  }
  return isObject(usage) && usage.include === true;
}

function needsOf(body: Members, firstImage: string | null, reasoning: ReasoningAsk | null): CapabilityNeed[] {
  const needs: CapabilityNeed[] = [{ capability: 'chat', param: 'model' }];
  for (const param of ['tools', 'functions']) {
    const offered = body[param];
    if (Array.isArray(offered) && offered.length > 0) needs.push({ capability: 'tools', param });
  }
  if (firstImage !== null) needs.push({ capability: 'images', param: firstImage });
  if (reasoning !== null && asksToReason(reasoning)) needs.push({ capability: 'reasoning', param: reasoning.param });
  return needs;
}

/** To hide a trace, or to switch thinking off, asks nothing of a model. */
function asksToReason({ effort, budgetTokens }: ReasoningAsk): boolean {
  return budgetTokens !== null || (effort !== null && effort !== 'none');
}

function readLabels(body: Members): Record<string, string> | null {
  const labels: Record<string, string> = {};
  let kept = 0;
  const keep = (name: string, value: unknown): void => {
    if (typeof value !== 'string' || kept === LIMITS.labelsMax) return;
    labels[name] = value.slice(0, LIMITS.labelCharactersMax);
    kept++;
  };
  for (const field of LABEL_FIELDS) {
    const value = body[field];
    if (isObject(value)) for (const key of Object.keys(value)) keep(`${field}.${key.slice(0, 64)}`, value[key]);
    else keep(field, value);
  }
  return kept === 0 ? null : labels;
}

/** Everything that weighs as text, for the rare exact count; the same walk finds both. */
export function texts(body: unknown): string[] {
  const found: string[] = [];
  const collector: PromptVisitor = { text: (text) => found.push(text), toolText: () => {}, image: () => {} };
  if (!isObject(body) || !Array.isArray(body.messages)) return found;
  visitMessages(body.messages, collector);
  for (const name of checkFields(body)) visitUnknown(body[name], collector);
  return found;
}
