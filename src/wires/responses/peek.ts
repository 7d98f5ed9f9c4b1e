import { GatewayError } from '../../canonical/errors.ts';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { ReasoningAsk } from '../../canonical/reasoning.ts';
import type { JsonText } from '../../json/json.ts';
import { readLabels } from '../fields/labels.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import {
  PromptMeasure,
  type PromptVisitor,
  TextCollector,
  visitCacheMarks,
  visitUnknown,
} from '../fields/prompt-visitor.ts';
import { readModel } from '../fields/read-model.ts';
import { asksToReason, readReasoning } from '../fields/read-reasoning.ts';
import { mustBe } from '../fields/request-errors.ts';
import { countFormats } from '../fields/response-format.ts';
import type { CapabilityNeed, Peek } from '../peek.ts';
import { readWantsUsage } from '../usage/wants-usage.ts';
import { checkToolChoice, checkTools } from './check-tools.ts';
import { checkFields } from './fields.ts';
import { visitInput } from './measure.ts';

const DEFAULT_OUTPUT_LIMIT = 4096;

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model` and `input`.',
    });
  }
  const model = readModel(body);
  const unknownFields = checkFields(body);
  const measure = new PromptMeasure();
  const messages = visitPrompt(text, body, unknownFields, measure);
  const tools = checkTools(body.tools, measure) + measure.addedTools;
  checkToolChoice(body.tool_choice);
  visitCacheMarks(body, measure);
  const reasoning = readReasoning(body);
  return {
    model,
    stream: body.stream === true,
    // The last event always has usage; the option is only checked.
    wantsUsageFrame: readWantsUsage(body),
    promptParam: 'input',
    limitParam: 'max_output_tokens',
    outputLimit: readLimit(body),
    defaultOutputLimit: DEFAULT_OUTPUT_LIMIT,
    answers: 1,
    needs: needsOf(tools, measure, reasoning),
    size: measure.size(messages, tools + formatsOf(body)),
    cacheWrites: measure.cacheWrites,
    labels: readLabels(body),
    reasoning,
  };
}

/** Fields that hosts put into the prompt as JSON. */
const SCHEMA_FIELDS = ['tools', 'tool_choice', 'text', 'response_format'];

function visitPrompt(text: JsonText, body: Members, unknownFields: readonly string[], visitor: PromptVisitor): number {
  const items = visitInput(body.input, visitor);
  for (const field of SCHEMA_FIELDS) if (!isAbsent(body[field])) visitor.schema(text, field);
  for (const name of unknownFields) visitUnknown(body[name], visitor);
  if (typeof body.instructions !== 'string') return items;
  visitor.text(body.instructions);
  return items + 1;
}

/** The response format may stand in `text` or in the field of the chat wire. */
function formatsOf({ text, response_format: other }: Members): number {
  return countFormats(isObject(text) ? text.format : null, other);
}

function readLimit(body: Members): Peek['outputLimit'] {
  const tokens = body.max_output_tokens;
  if (isAbsent(tokens)) return null;
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 1) throw mustBe('max_output_tokens', 'a positive integer');
  return { tokens: tokens as number, field: 'max_output_tokens' };
}

function needsOf(
  tools: number,
  { firstImage, firstDocument }: PromptMeasure,
  reasoning: ReasoningAsk | null,
): CapabilityNeed[] {
  const needs: CapabilityNeed[] = [{ capability: 'chat', param: 'model' }];
  if (tools > 0) needs.push({ capability: 'tools', param: 'tools' });
  if (firstImage !== null) needs.push({ capability: 'images', param: firstImage });
  if (firstDocument !== null) needs.push({ capability: 'documents', param: firstDocument });
  if (reasoning !== null && asksToReason(reasoning)) needs.push({ capability: 'reasoning', param: reasoning.param });
  return needs;
}

/** The texts of the prompt, for a token count; the same walk as for its size. */
export function texts(text: JsonText): PromptTexts {
  const body = text.value as Members;
  const collector = new TextCollector();
  visitPrompt(text, body, checkFields(body), collector);
  checkTools(body.tools, collector);
  return collector;
}
