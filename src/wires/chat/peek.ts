import { GatewayError } from '../../canonical/errors.ts';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { ReasoningAsk } from '../../canonical/reasoning.ts';
import type { JsonText } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { readLabels } from '../fields/labels.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { readMessageList } from '../fields/message-list.ts';
import type { PromptMeasure } from '../fields/prompt-visitor.ts';
import { readModel } from '../fields/read-model.ts';
import { asksToReason, readWithheldReasoning } from '../fields/read-reasoning.ts';
import { mustBe } from '../fields/request-errors.ts';
import type { CapabilityNeed, Peek } from '../peek.ts';
import { readWantsUsage } from '../usage/wants-usage.ts';
import { checkFields } from './fields.ts';
import { collectTexts, countTools, measureBody } from './measure.ts';

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
  const messages = readMessageList(body);
  const measure = measureBody(text, body, unknownFields);
  const stream = body.stream === true;
  const reasoning = readWithheldReasoning(body);
  return {
    model,
    stream,
    wantsUsageFrame: readWantsUsage(body),
    outputLimit: readOutputLimit(body),
    defaultOutputLimit: DEFAULT_OUTPUT_LIMIT,
    answers: readAnswers(body),
    needs: needsOf(body, measure, reasoning),
    size: measure.size(messages.length, countTools(body)),
    cacheWrites: measure.cacheWrites,
    labels: readLabels(body),
    reasoning,
  };
}

/** Checks both fields, so that a wrong one is reported even if the other one is used. */
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

function needsOf(
  body: Members,
  { firstImage, firstDocument }: PromptMeasure,
  reasoning: ReasoningAsk | null,
): CapabilityNeed[] {
  const needs: CapabilityNeed[] = [{ capability: 'chat', param: 'model' }];
  for (const param of ['tools', 'functions']) {
    const offered = body[param];
    if (Array.isArray(offered) && offered.length > 0) needs.push({ capability: 'tools', param });
  }
  if (firstImage !== null) needs.push({ capability: 'images', param: firstImage });
  if (firstDocument !== null) needs.push({ capability: 'documents', param: firstDocument });
  if (reasoning !== null && asksToReason(reasoning)) needs.push({ capability: 'reasoning', param: reasoning.param });
  return needs;
}

/** The texts of the prompt, for a token count; the same walk as for its size. */
export function texts(text: JsonText): PromptTexts {
  const body = text.value as Members;
  return collectTexts(text, body, checkFields(body));
}
