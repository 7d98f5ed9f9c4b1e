import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../kit/json.ts';
import { LIMITS } from '../../limits.ts';
import type { CapabilityNeed, Peek } from '../wire.ts';
import { checkFields, invalidValue, isObject, LABEL_FIELDS } from './fields.ts';
import { type Measure, measureMessages, measureTools, sizeOf } from './measure.ts';
import { readReasoning } from './read-reasoning.ts';

type Body = Record<string, unknown>;

const DEFAULT_OUTPUT_LIMIT = 4096;

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model` and `messages`.',
    });
  }
  const model = readModel(body);
  checkFields(body);
  const measure: Measure = { textBytes: 0, toolBytes: 0, messages: 0, tools: 0, images: 0, firstImage: null };
  measureMessages(readMessages(body), measure);
  measureTools(text, body, measure);
  const stream = body.stream === true;
  const reasoning = readReasoning(body);
  return {
    model,
    stream,
    wantsUsageFrame: readWantsUsage(body, stream),
    outputLimit: readOutputLimit(body),
    defaultOutputLimit: DEFAULT_OUTPUT_LIMIT,
    answers: readAnswers(body),
    needs: needsOf(body, measure, reasoning !== null && reasoning.effort !== 'none' ? reasoning.param : null),
    size: sizeOf(measure),
    labels: readLabels(body),
    reasoning,
  };
}

function missing(param: string, message: string): GatewayError {
  return new GatewayError('missing_required_parameter', { param, message });
}

function readModel(body: Body): string {
  const model = body.model;
  if (model === undefined || model === null) {
    throw missing('model', '`model` is missing; GET /v1/models lists what this key may use.');
  }
  if (typeof model !== 'string' || model === '' || model.length > LIMITS.modelIdCharsMax) {
    throw invalidValue('model', `\`model\` must be a string of 1 to ${LIMITS.modelIdCharsMax} characters.`);
  }
  return model;
}

function readMessages(body: Body): readonly unknown[] {
  const messages = body.messages;
  if (messages === undefined || messages === null)
    throw missing('messages', '`messages` is missing; send at least one.');
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalidValue('messages', '`messages` must be a list of at least one message.');
  }
  return messages;
}

function readOutputLimit(body: Body): Peek['outputLimit'] {
  const newer = readLimit(body, 'max_completion_tokens');
  const older = readLimit(body, 'max_tokens');
  return newer ?? older;
}

function readLimit(body: Body, field: string): Peek['outputLimit'] {
  const tokens = body[field];
  if (tokens === undefined || tokens === null) return null;
  if (!Number.isSafeInteger(tokens) || (tokens as number) < 1) {
    throw invalidValue(field, `\`${field}\` must be a positive integer.`);
  }
  return { tokens: tokens as number, field };
}

function readAnswers(body: Body): number {
  const n = body.n;
  if (n === undefined || n === null) return 1;
  if (!Number.isSafeInteger(n) || (n as number) < 1 || (n as number) > LIMITS.answersPerCallMax) {
    throw invalidValue('n', `\`n\` must be an integer from 1 to ${LIMITS.answersPerCallMax}.`);
  }
  return n as number;
}

function readWantsUsage(body: Body, stream: boolean): boolean {
  const options = body.stream_options;
  if (isObject(options)) {
    if (!stream) throw invalidValue('stream_options', '`stream_options` needs `stream: true`.');
    const include = options.include_usage;
    if (include !== undefined && include !== null && typeof include !== 'boolean') {
      throw invalidValue('stream_options.include_usage', '`stream_options.include_usage` must be true or false.');
    }
    if (include === true) return true;
  }
  const usage = body.usage;
  return isObject(usage) && usage.include === true;
}

function needsOf(body: Body, measure: Measure, reasoningParam: string | null): CapabilityNeed[] {
  const needs: CapabilityNeed[] = [{ capability: 'chat', param: 'model' }];
  if (Array.isArray(body.tools) && body.tools.length > 0) needs.push({ capability: 'tools', param: 'tools' });
  if (Array.isArray(body.functions) && body.functions.length > 0) {
    needs.push({ capability: 'tools', param: 'functions' });
  }
  if (measure.firstImage !== null) needs.push({ capability: 'images', param: measure.firstImage });
  if (reasoningParam !== null && reasoningParam !== 'include_reasoning') {
    needs.push({ capability: 'reasoning', param: reasoningParam });
  }
  return needs;
}

function readLabels(body: Body): Record<string, string> | null {
  let labels: Record<string, string> | null = null;
  const keep = (name: string, value: unknown): void => {
    if (typeof value !== 'string') return;
    labels ??= {};
    if (Object.keys(labels).length < LIMITS.labelsMax) labels[name] = value.slice(0, LIMITS.labelCharactersMax);
  };
  for (const field of LABEL_FIELDS) {
    const value = body[field];
    if (value === undefined) continue;
    if (isObject(value)) for (const [key, inner] of Object.entries(value)) keep(`metadata.${key.slice(0, 64)}`, inner);
    else keep(field, value);
  }
  return labels;
}

/** Everything a tokenizer would read; used only when the byte bound is not good enough. */
export function texts(body: unknown): string[] {
  const found: string[] = [];
  const messages = isObject(body) && Array.isArray(body.messages) ? body.messages : [];
  for (const message of messages) {
    if (!isObject(message)) continue;
    const content = message.content;
    if (typeof content === 'string') found.push(content);
    else if (Array.isArray(content)) {
      for (const part of content) if (isObject(part) && typeof part.text === 'string') found.push(part.text);
    }
  }
  return found;
}
