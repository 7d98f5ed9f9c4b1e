import type {
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  ResponseFormat,
  ToolChoice,
} from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import { type Adjustments, refusing } from '../adjustments.ts';
import { noteCacheOptions, readCacheRetention } from '../fields/cache-mark.ts';
import { IMAGE_DETAIL } from '../fields/image-url.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import { isSchema, noteOthers, noteStreamOptions } from '../fields/other-members.ts';
import { mustBe } from '../fields/request-errors.ts';
import {
  FORMAT_DESCRIPTION,
  FORMAT_OPENNESS,
  readResponseFormat,
  readSchemaFormat,
} from '../fields/response-format.ts';
import { translateReasoning } from '../fields/translate-reasoning.ts';
import { readVerbosity } from '../fields/verbosity.ts';
import { hasNoEffect, isEmpty } from '../fields/without-effect.ts';
import type { Peek } from '../peek.ts';
import { isRefusedField, LOGPROBS } from './fields.ts';
import { exactTools, flattenChoice, flattenTools } from './flatten-tools.ts';
import { noteItems, noteTools } from './left-out.ts';
import { readItems } from './read-items.ts';
import { offeredTools, ToolNames } from './tool-names.ts';

/** The caller's request in the canonical form; its shape was checked before. */
export function readRequest(text: JsonText, peek: Peek, adjustments = refusing(FIELD_NAMES)): CanonicalRequest {
  const body = exactTools(text);
  dropUntranslatable(body, adjustments);
  noteTools(body.tools, 'tools', adjustments);
  const names = new ToolNames(offeredTools(body));
  const choice = isObject(body.tool_choice) ? flattenChoice(body.tool_choice, names) : body.tool_choice;
  const tools = flattenTools(body, names).map(readTool);
  const allowed = readAllowed(choice, new Set<unknown>(tools.map(({ name }) => name)));
  return {
    messages: readMessages(body, names, adjustments),
    tools: allowed === null ? tools : tools.filter(({ name }) => allowed.names.has(name)),
    toolChoice: allowed?.choice ?? readToolChoice(choice),
    parallelToolCalls: (body.parallel_tool_calls as boolean | undefined) ?? null,
    sampling: {
      temperature: readNumber(body.temperature),
      topP: readNumber(body.top_p),
      topK: null,
      frequencyPenalty: readNumber(body.frequency_penalty),
      presencePenalty: readNumber(body.presence_penalty),
      seed: null,
      stop: [],
    },
    responseFormat: readFormat(text, adjustments),
    reasoning: translateReasoning(body, peek, adjustments),
    verbosity: readVerbosity(isObject(body.text) ? body.text.verbosity : null, adjustments),
    ...readCacheRetention(body),
  };
}

export const FIELD_NAMES = {
  messages: 'input',
  verbosity: 'text.verbosity',
  [IMAGE_DETAIL]: 'input_image.detail',
  cache_control: 'prompt_cache_breakpoint',
};

/** Fields that can be translated, or that hosts do not need. */
const CARRIED: ReadonlySet<string> = new Set([
  ...LABEL_FIELDS,
  'frequency_penalty',
  'include',
  'include_reasoning',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'model',
  'parallel_tool_calls',
  'presence_penalty',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'reasoning_effort',
  'response_format',
  'service_tier',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'thinking',
  'tool_choice',
  'tools',
  'top_p',
  'usage',
]);

function dropUntranslatable(body: Members, adjustments: Adjustments): void {
  for (const name of Object.keys(body)) {
    // Refused fields that passed the check have values without effect.
    if (CARRIED.has(name) || isRefusedField(name) || hasNoEffect(name, body[name])) continue;
    adjustments.dropUnknown(name, body[name]);
  }
  noteStreamOptions(body, adjustments);
  noteCacheOptions(body, adjustments);
  const include = Array.isArray(body.include) ? body.include : [];
  const logprobsAt = include.indexOf(LOGPROBS);
  if (logprobsAt !== -1) adjustments.drop(`include[${logprobsAt}]`);
}

/** Instructions come before everything else. */
function readMessages(
  { instructions, input }: Members,
  names: ToolNames,
  adjustments: Adjustments,
): CanonicalMessage[] {
  const messages = readItems(input as string | readonly unknown[], names);
  if (Array.isArray(input)) noteItems(input, adjustments);
  if (typeof instructions !== 'string' || instructions === '') return messages;
  return [{ role: 'system', blocks: [{ kind: 'text', text: instructions }] }, ...messages];
}

function readTool(tool: Members): CanonicalTool {
  return {
    name: tool.name as string,
    description: typeof tool.description === 'string' ? tool.description : null,
    schema: isSchema(tool.parameters) ? tool.parameters : { type: 'object', properties: {} },
    // Other wires are strict only on request and then refuse some schemas, so a missing `strict` stays missing.
    strict: typeof tool.strict === 'boolean' ? tool.strict : null,
  };
}

function readToolChoice(choice: unknown): ToolChoice | null {
  if (isEmpty(choice)) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  if (isObject(choice) && choice.type === 'function' && typeof choice.name === 'string') {
    return { kind: 'tool', name: choice.name };
  }
  throw mustBe('tool_choice', '"auto", "none", "required" or a tool');
}

/** `allowed_tools` is translated by offering only those tools. A name that is not offered is a mistake. */
function readAllowed(
  choice: unknown,
  offered: ReadonlySet<unknown>,
): { choice: ToolChoice; names: ReadonlySet<unknown> } | null {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return null;
  const { mode } = choice;
  if (mode !== 'auto' && mode !== 'required') throw mustBe('tool_choice.mode', '"auto" or "required"');
  const names = objectsIn(choice.tools).map(({ name }) => name);
  const unknown = names.findIndex((name) => !offered.has(name));
  if (unknown !== -1) throw mustBe(`tool_choice.tools[${unknown}]`, 'one of `tools`');
  return { choice: { kind: mode }, names: new Set(names) };
}

/** The output format in `text.format`, or in `response_format` as on other wires. */
function readFormat(request: JsonText, adjustments: Adjustments): ResponseFormat | null {
  const text = request.exactMember('text');
  if (isObject(text)) noteOthers(text, 'text', TEXT_MEMBERS, adjustments);
  const format = isObject(text) ? text.format : null;
  if (isEmpty(format)) return readResponseFormat(request.exactMember('response_format'), adjustments);
  if (!isObject(format)) throw mustBe('text.format', 'an object');
  adjustments.rename('response_format', 'text.format');
  adjustments.rename(FORMAT_DESCRIPTION, 'text.format.description');
  adjustments.rename(FORMAT_OPENNESS, 'text.format.schema.additionalProperties');
  noteOthers(format, 'text.format', FORMAT_MEMBERS, adjustments);
  if (format.type === 'text') return { kind: 'text' };
  if (format.type === 'json_object') return { kind: 'json' };
  if (format.type !== 'json_schema') {
    adjustments.drop('text.format.type', 'use text, json_object or json_schema');
    return null;
  }
  if (!isObject(format.schema)) throw mustBe('text.format.schema', 'a JSON schema');
  return readSchemaFormat(format, 'text.format');
}

const TEXT_MEMBERS: ReadonlySet<string> = new Set(['format', 'verbosity']);
const FORMAT_MEMBERS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'schema', 'strict']);

function readNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
