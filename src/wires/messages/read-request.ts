import type {
  CanonicalMessage,
  CanonicalReasoning,
  CanonicalRequest,
  CanonicalTool,
  ResponseFormat,
  Role,
  ToolChoice,
} from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import { type Adjustments, refusing } from '../adjustments.ts';
import { readCacheMark } from '../fields/cache-mark.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { BUDGET } from '../fields/lost-budget.ts';
import { isAbsent, isObject, type Members, objectsIn } from '../fields/members.ts';
import { isSchema, noteOthers, optionalFlag, optionalText } from '../fields/other-members.ts';
import { invalidValue, mustBe } from '../fields/request-errors.ts';
import { readResponseFormat } from '../fields/response-format.ts';
import { readTopK } from '../fields/sampling.ts';
import { disablesThinking, refuseSwitchedOff } from '../fields/translate-reasoning.ts';
import { hasNoEffect, isEmpty } from '../fields/without-effect.ts';
import type { Peek } from '../peek.ts';
import { isVendorDefined } from './check-tools.ts';
import { isWithheld } from './fields.ts';
import { hasOptionalMember } from './optional-members.ts';
import { dropMembers, readContent } from './read-blocks.ts';

/** Reads a request into the canonical form. */
export function readRequest(text: JsonText, peek: Peek, adjustments = refusing(FIELD_NAMES)): CanonicalRequest {
  const body = text.value as Members;
  dropUntranslatable(body, adjustments);
  const { toolChoice, parallelToolCalls } = readToolChoice(body.tool_choice, adjustments);
  return {
    messages: readMessages(text, body, adjustments),
    tools: objectsIn(text.exactMember('tools')).map((tool, index) => readTool(tool, index, adjustments)),
    toolChoice,
    parallelToolCalls,
    sampling: {
      temperature: numberOrNull(body.temperature),
      topP: numberOrNull(body.top_p),
      topK: readTopK(body.top_k),
      frequencyPenalty: null,
      presencePenalty: null,
      seed: null,
      stop: Array.isArray(body.stop_sequences) ? (body.stop_sequences as string[]) : [],
    },
    responseFormat: readFormat(text, adjustments),
    reasoning: readReasoning(body, peek, adjustments),
    verbosity: null,
    ...readCacheMark(body.cache_control),
  };
}

export const FIELD_NAMES = { stop: 'stop_sequences' };

/**
 * Fields that are read above, or that only this gateway reads. Context management that was let through removes nothing.
 */
const CARRIED = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'tools', 'tool_choice', 'stop_sequences'],
  ...['temperature', 'top_p', 'top_k', 'thinking', 'output_config', 'output_format', 'cache_control'],
  ...['service_tier', 'speed', 'inference_geo', 'response_format', 'context_management', ...LABEL_FIELDS],
]);

function dropUntranslatable(body: Members, adjustments: Adjustments): void {
  for (const name of Object.keys(body)) {
    if (CARRIED.has(name) || isWithheld(name, []) || hasNoEffect(name, body[name])) continue;
    adjustments.dropUnknown(name, body[name]);
  }
  if (isObject(body.output_config)) dropMembers(body.output_config, 'output_config', OUTPUT_MEMBERS, adjustments);
}

const OUTPUT_MEMBERS = ['effort', 'format'];

function readMessages(text: JsonText, body: Members, adjustments: Adjustments): CanonicalMessage[] {
  const messages: CanonicalMessage[] = [];
  const add = (role: Role, content: unknown, path: readonly (string | number)[]): void => {
    const blocks = readContent(content, path, text, adjustments);
    if (blocks.length > 0) messages.push({ role, blocks });
  };
  if (!isAbsent(body.system)) add('system', body.system, ['system']);
  (body.messages as Members[]).forEach((message, index) => {
    noteOthers(message, `messages[${index}]`, MESSAGE_MEMBERS, adjustments);
    add(message.role as Role, message.content, ['messages', index, 'content']);
  });
  return messages;
}

const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(['role', 'content']);

/** Members of a tool that are translated or can be dropped. */
const TOOL_MEMBERS = [
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
  'eager_input_streaming',
];

function readTool(tool: Members, index: number, adjustments: Adjustments): CanonicalTool {
  if (isVendorDefined(tool.type)) {
    const named = JSON.stringify(String(tool.type).slice(0, 60));
    const remedy = `${named} is built into the models of one vendor; send a tool with an \`input_schema\` of your own`;
    adjustments.refuse(`tools[${index}].type`, remedy);
  }
  const { allowed_callers: callers, ...members } = tool;
  dropMembers(isDirect(callers) ? members : tool, `tools[${index}]`, TOOL_MEMBERS, adjustments);
  return {
    name: tool.name as string,
    description: optionalText(tool.description, `tools[${index}].description`),
    schema: tool.input_schema as Members,
    strict: readStrict(tool, index, adjustments),
    ...readCacheMark(tool.cache_control),
  };
}

/** Hosts of other wires refuse a strict tool with an optional member, which is usual on this one. */
function readStrict(
  { strict, input_schema: schema }: Members,
  index: number,
  adjustments: Adjustments,
): boolean | null {
  const flag = optionalFlag(strict, `tools[${index}].strict`);
  if (flag !== true || !hasOptionalMember(schema as Members)) return flag;
  adjustments.note('tools.strict');
  return null;
}

/** The model itself is the only caller by default; other callers are tools of the vendor. */
function isDirect(callers: unknown): boolean {
  return Array.isArray(callers) && callers.every((caller) => caller === 'direct');
}

const CHOICES = new Map<unknown, 'auto' | 'required' | 'none'>([
  ['auto', 'auto'],
  ['any', 'required'],
  ['none', 'none'],
]);

type Choice = Pick<CanonicalRequest, 'toolChoice' | 'parallelToolCalls'>;

const CHOICE_MEMBERS: ReadonlySet<string> = new Set(['type', 'name', 'disable_parallel_tool_use']);

function readToolChoice(choice: unknown, adjustments: Adjustments): Choice {
  if (!isObject(choice) || isEmpty(choice)) return { toolChoice: null, parallelToolCalls: null };
  noteOthers(choice, 'tool_choice', CHOICE_MEMBERS, adjustments);
  const isSingle = optionalFlag(choice.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use');
  return { toolChoice: readChosen(choice), parallelToolCalls: isSingle === true ? false : null };
}

function readChosen({ type, name }: Members): ToolChoice {
  if (type === 'tool' && typeof name === 'string') return { kind: 'tool', name };
  const kind = CHOICES.get(type);
  if (kind !== undefined) return { kind };
  throw mustBe('tool_choice.type', 'one of auto, any, tool, none, and name a tool if it is "tool"');
}

/** Formats of this wire have no name and are strict, which hosts of others cannot be if a member is optional. */
function readFormat(text: JsonText, adjustments: Adjustments): ResponseFormat | null {
  const [config, older, others] = FORMAT_FIELDS.map((name) => text.exactMember(name));
  const own = isObject(config) ? config.format : null;
  const format = isEmpty(own) ? older : own;
  if (isEmpty(format)) return readResponseFormat(others, adjustments);
  if (!isEmpty(others))
    throw invalidValue('response_format', '`response_format` and `output_config.format` are both given; send one.');
  if (!isObject(format) || format.type !== 'json_schema' || !isSchema(format.schema)) {
    throw mustBe('output_config.format', 'of type "json_schema" with a schema');
  }
  noteOthers(format, 'output_config.format', FORMAT_MEMBERS, adjustments);
  const strict = !hasOptionalMember(format.schema);
  if (!strict) adjustments.note('output_config.format.strict');
  return { kind: 'schema', name: 'answer', description: null, schema: format.schema, strict };
}

const FORMAT_FIELDS = ['output_config', 'output_format', 'response_format'];
const FORMAT_MEMBERS: ReadonlySet<string> = new Set(['type', 'schema', 'name']);
const THINKING_MEMBERS: ReadonlySet<string> = new Set(['type', 'budget_tokens', 'display']);

function readReasoning(body: Members, { reasoning }: Peek, adjustments: Adjustments): CanonicalReasoning | null {
  if (isObject(body.thinking)) noteOthers(body.thinking, 'thinking', THINKING_MEMBERS, adjustments);
  if (isObject(body.thinking) && body.thinking.type === 'between_tools') adjustments.drop('thinking.type');
  if (reasoning === null) return disablesThinking(body) ? { effort: 'none', budgetTokens: null } : null;
  if (disablesThinking(body)) refuseSwitchedOff(reasoning, reasoning.param);
  adjustments.rename('reasoning', reasoning.param);
  if (reasoning.param === 'thinking') adjustments.rename(BUDGET, 'thinking.budget_tokens');
  return { effort: reasoning.effort, budgetTokens: reasoning.budgetTokens };
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
