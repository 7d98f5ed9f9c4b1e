import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { JsonText } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { readLabels } from '../fields/labels.ts';
import { isAbsent, isCount, isObject, type Members, objectsIn } from '../fields/members.ts';
import {
  PromptMeasure,
  type PromptVisitor,
  TextCollector,
  visitCacheMarks,
  visitUnknown,
} from '../fields/prompt-visitor.ts';
import { missing, mustBe } from '../fields/request-errors.ts';
import { countFormats } from '../fields/response-format.ts';
import type { CapabilityNeed, Peek } from '../peek.ts';
import { checkTools } from './check-tools.ts';
import { checkFields } from './fields.ts';
import { visitPrompt } from './measure.ts';
import { readThinking, reasoningParam } from './read-thinking.ts';
import { wantsReceipt } from './receipt.ts';
import { measureRepeatedTools } from './tool-changes.ts';
import { readHostHeaders } from './vendor-headers.ts';

export function peek(text: JsonText, headers: IncomingHttpHeaders): Peek {
  const body = readBody(text);
  const hostHeaders = readHostHeaders(headers);
  const model = readModel(body);
  const unknownFields = checkFields(body);
  const outputLimit = readOutputLimit(body);
  const measure = measurePrompt(text, body, unknownFields);
  const reasoning = readThinking(body);
  return {
    model,
    stream: body.stream === true,
    wantsUsageFrame: wantsReceipt(headers),
    outputLimit,
    // Never used: this wire requires an output limit.
    defaultOutputLimit: outputLimit.tokens,
    answers: 1,
    needs: needsOf(body, measure),
    size: measure.size(messageCount(body), countTools(body) + measure.addedTools),
    cacheWrites: measure.cacheWrites,
    labels: readLabels(body),
    reasoning,
    hostHeaders,
  };
}

export function readBody(text: JsonText): Members {
  if (isObject(text.value)) return text.value;
  throw new GatewayError('invalid_request_body', {
    message: 'The body must be a JSON object with `model`, `max_tokens` and `messages`.',
  });
}

export function readModel(body: Members): string {
  const model = body.model;
  if (isAbsent(model)) throw missing('model', '`model` is missing; GET /v1/models lists what this key may use.');
  if (typeof model !== 'string' || model === '' || model.length > LIMITS.modelIdCharsMax) {
    throw mustBe('model', `a string of 1 to ${LIMITS.modelIdCharsMax} characters`);
  }
  return model;
}

function readOutputLimit(body: Members): { tokens: number; field: string } {
  const tokens = body.max_tokens;
  if (isAbsent(tokens)) throw missing('max_tokens', '`max_tokens` is missing; this route requires it.');
  if (!isCount(tokens) || tokens === 0) throw mustBe('max_tokens', 'a positive integer');
  return { tokens, field: 'max_tokens' };
}

/** Fields with schemas or tool names. */
const SCHEMA_FIELDS = ['tools', 'tool_choice', 'output_config', 'output_format', 'response_format'];

function measurePrompt(text: JsonText, body: Members, unknownFields: readonly string[]): PromptMeasure {
  const measure = new PromptMeasure();
  visitPrompt(body, measure);
  measureRepeatedTools(body, measure);
  if (Array.isArray(body.tools)) checkTools(body.tools, measure);
  for (const marked of [body, ...objectsIn(body.tools)]) visitCacheMarks(marked, measure);
  visitFields(text, body, unknownFields, measure);
  return measure;
}

function visitFields(text: JsonText, body: Members, unknownFields: readonly string[], visitor: PromptVisitor): void {
  for (const field of SCHEMA_FIELDS) if (!isAbsent(body[field])) visitor.schema(text, field);
  for (const name of unknownFields) visitUnknown(body[name], visitor);
}

function messageCount(body: Members): number {
  return (body.messages as unknown[]).length + (isAbsent(body.system) ? 0 : 1);
}

/** The tools, and the response format under its current name, its older one and that of other wires. */
function countTools({ tools, output_config: config, output_format: format, response_format: other }: Members): number {
  const formats = countFormats(isObject(config) ? config.format : null, format, other);
  return (Array.isArray(tools) ? tools.length : 0) + formats;
}

/** The first need refuses models that cannot be called on this wire; its error names `model`. */
export function needsOf(body: Members, { firstImage, firstDocument, addedTools }: PromptMeasure): CapabilityNeed[] {
  const needs: CapabilityNeed[] = [{ capability: 'messages', param: 'model' }];
  if ((Array.isArray(body.tools) && body.tools.length > 0) || addedTools > 0)
    needs.push({ capability: 'tools', param: 'tools' });
  if (firstImage !== null) needs.push({ capability: 'images', param: firstImage });
  if (firstDocument !== null) needs.push({ capability: 'documents', param: firstDocument });
  const reasons = reasoningParam(body);
  if (reasons !== null) needs.push({ capability: 'reasoning', param: reasons });
  return needs;
}

/** The texts of the prompt, for a token count; the same walk as for its size. */
export function texts(text: JsonText): PromptTexts {
  const body = text.value as Members;
  const collector = new TextCollector();
  visitPrompt(body, collector);
  visitFields(text, body, checkFields(body), collector);
  return collector;
}
