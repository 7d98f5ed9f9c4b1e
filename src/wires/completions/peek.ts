import { GatewayError } from '../../canonical/errors.ts';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { ReasoningAsk } from '../../canonical/reasoning.ts';
import type { JsonText } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { readLabels } from '../fields/labels.ts';
import { isAbsent, isCount, isObject, type Members } from '../fields/members.ts';
import { TextCollector, visitUnknown } from '../fields/prompt-visitor.ts';
import { readModel } from '../fields/read-model.ts';
import { asksToReason, readWithheldReasoning } from '../fields/read-reasoning.ts';
import { missing, mustBe } from '../fields/request-errors.ts';
import { countFormats } from '../fields/response-format.ts';
import { measureBatch, readTextInputs, type TextInput } from '../fields/text-inputs.ts';
import type { CapabilityNeed, Peek } from '../peek.ts';
import { readWantsUsage } from '../usage/wants-usage.ts';
import { checkFields } from './fields.ts';

const DEFAULT_OUTPUT_LIMIT = 16;

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model` and `prompt`.',
    });
  }
  const model = readModel(body);
  const unknownFields = checkFields(body);
  const prompts = readPrompts(body);
  const reasoning = readWithheldReasoning(body);
  return {
    model,
    stream: body.stream === true,
    wantsUsageFrame: readWantsUsage(body),
    promptParam: 'prompt',
    outputLimit: readLimit(body),
    defaultOutputLimit: DEFAULT_OUTPUT_LIMIT,
    answers: prompts.length * readAnswersEach(body, prompts.length),
    prompts: prompts.length,
    needs: needsOf(body, reasoning),
    size: {
      ...measureBatch(prompts, sharedTexts(body, unknownFields), schemaIn(text) ?? ''),
      tools: countFormats(body.response_format),
    },
    labels: readLabels(body),
    reasoning,
  };
}

function readPrompts(body: Members): readonly TextInput[] {
  if (isAbsent(body.prompt)) throw missing('prompt', '`prompt` is missing; send a string or a list.');
  return readTextInputs(body.prompt, 'prompt', LIMITS.completionAnswersMax);
}

/** A limit of 0 is allowed only with `echo`, which returns the prompt: some hosts take 0 alone for no limit. */
function readLimit({ max_tokens: tokens, echo }: Members): Peek['outputLimit'] {
  if (isAbsent(tokens)) return null;
  if (!isCount(tokens)) throw mustBe('max_tokens', 'an integer of at least 0');
  if (tokens === 0 && echo !== true) throw mustBe('max_tokens', 'at least 1 unless `echo` is true');
  return { tokens, field: 'max_tokens' };
}

/** How many choices are generated for each prompt; the hidden ones of `best_of` cost as much as the visible ones. */
function readAnswersEach(body: Members, prompts: number): number {
  const n = readNumber(body, 'n') ?? 1;
  const bestOf = readNumber(body, 'best_of') ?? n;
  if (bestOf < n) throw mustBe('best_of', `at least \`n\`, which is ${n}`);
  if (bestOf > n && body.stream === true) {
    throw mustBe('best_of', 'left out if `stream` is true, since the best ones are known only at the end');
  }
  if (bestOf * prompts <= LIMITS.completionAnswersMax) return bestOf;
  const field = bestOf > n ? 'best_of' : 'n';
  throw mustBe(field, `at most ${LIMITS.completionAnswersMax} answers over all prompts`);
}

function readNumber(body: Members, field: 'n' | 'best_of'): number | null {
  const value = body[field];
  if (isAbsent(value)) return null;
  if (isCount(value) && value >= 1 && value <= LIMITS.answersPerCallMax) return value;
  throw mustBe(field, `an integer from 1 to ${LIMITS.answersPerCallMax}`);
}

/** Needs a model of this wire, or a chat model, which is reached by translation. */
function needsOf({ tools }: Members, reasoning: ReasoningAsk | null): CapabilityNeed[] {
  const needs: CapabilityNeed[] = [{ capability: ['completions', 'chat'], param: 'model' }];
  if (Array.isArray(tools) && tools.length > 0) needs.push({ capability: 'tools', param: 'tools' });
  if (reasoning !== null && asksToReason(reasoning)) needs.push({ capability: 'reasoning', param: reasoning.param });
  return needs;
}

/** What the host reads with every prompt: the suffix, and unknown fields. */
function sharedTexts(body: Members, unknownFields: readonly string[]): string[] {
  const shared = new TextCollector();
  for (const name of ['suffix', ...unknownFields]) visitUnknown(body[name], shared);
  return shared.texts;
}

/** The response format as it was sent; null if there is none. */
function schemaIn(text: JsonText): string | null {
  const span = text.locate(['response_format']);
  return span === null ? null : text.bytes.toString('utf8', span.start, span.end);
}

/** The texts of the prompts, for a token count. */
export function texts(text: JsonText): PromptTexts {
  const body = text.value as Members;
  const shared = sharedTexts(body, checkFields(body));
  const prompts = readPrompts(body);
  const schema = schemaIn(text);
  return {
    texts: prompts.flatMap((prompt) => (typeof prompt === 'string' ? [prompt, ...shared] : shared)),
    toolTexts: schema === null ? [] : prompts.map(() => schema),
  };
}
