import type {
  AnswerFormat,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  ToolChoice,
} from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import { LABEL_FIELDS } from '../fields/labels.ts';
import { isAbsent, isObject, type Members, objectsIn } from '../fields/members.ts';
import { mustBe, untranslatable } from '../fields/request-errors.ts';
import { readResponseFormat } from '../fields/response-format.ts';
import type { Peek } from '../peek.ts';
import { isRefusedField, LOGPROBS } from './fields.ts';
import { readItems } from './read-items.ts';

/** The caller's request in the common language; its shape was checked before. */
export function readRequest(text: JsonText, peek: Peek): CanonicalRequest {
  const body = text.value as Members;
  refuseUntranslatable(body);
  const allowed = readAllowed(body.tool_choice);
  const tools = readTools(body.tools);
  return {
    messages: readMessages(body),
    tools: allowed === null ? tools : tools.filter(({ name }) => allowed.names.includes(name)),
    toolChoice: allowed?.choice ?? readToolChoice(body.tool_choice),
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
    answerFormat: readFormat(body),
    reasoning:
      peek.reasoning === null ? null : { effort: peek.reasoning.effort, budgetTokens: peek.reasoning.budgetTokens },
  };
}

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
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'usage',
]);

function refuseUntranslatable(body: Members): void {
  for (const name of Object.keys(body)) {
    // Refused fields that passed the check have values without effect.
    if (body[name] !== null && !CARRIED.has(name) && !isRefusedField(name)) throw untranslatable(name);
  }
  if (!isAbsent(body.top_logprobs) && body.top_logprobs !== 0) throw untranslatable('top_logprobs');
  const include = Array.isArray(body.include) ? body.include : [];
  const logprobsAt = include.indexOf(LOGPROBS);
  if (logprobsAt !== -1) throw untranslatable(`include[${logprobsAt}]`);
  const verbosity = isObject(body.text) ? body.text.verbosity : null;
  if (!isAbsent(verbosity) && verbosity !== 'medium') throw untranslatable('text.verbosity');
}

/** Instructions come before everything else. */
function readMessages({ instructions, input }: Members): CanonicalMessage[] {
  const messages = readItems(input as string | readonly unknown[]);
  if (typeof instructions !== 'string' || instructions === '') return messages;
  return [{ role: 'system', blocks: [{ kind: 'text', text: instructions }] }, ...messages];
}

function readTools(tools: unknown): CanonicalTool[] {
  return objectsIn(tools).map((tool, index) => {
    if (tool.type !== 'function') throw untranslatable(`tools[${index}].type`, 'use function tools');
    return {
      name: tool.name as string,
      description: typeof tool.description === 'string' ? tool.description : null,
      schema: isObject(tool.parameters) ? tool.parameters : { type: 'object', properties: {} },
      // Other wires are strict only on request and then refuse some schemas, so a missing `strict` stays missing.
      strict: typeof tool.strict === 'boolean' ? tool.strict : null,
    };
  });
}

function readToolChoice(choice: unknown): ToolChoice | null {
  if (isAbsent(choice)) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  if (isObject(choice) && choice.type === 'function' && typeof choice.name === 'string') {
    return { kind: 'tool', name: choice.name };
  }
  if (isObject(choice) && choice.type === 'custom') throw untranslatable('tool_choice.type', 'use function tools');
  throw mustBe('tool_choice', '"auto", "none", "required" or a tool');
}

/** `allowed_tools` is translated by offering only those tools. */
function readAllowed(choice: unknown): { choice: ToolChoice; names: readonly unknown[] } | null {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return null;
  const { mode } = choice;
  if (mode !== 'auto' && mode !== 'required') throw mustBe('tool_choice.mode', '"auto" or "required"');
  return { choice: { kind: mode }, names: objectsIn(choice.tools).map(({ name }) => name) };
}

/** The output format in `text.format`, or in `response_format` as on other wires. */
function readFormat({ text, response_format: other }: Members): AnswerFormat | null {
  const format = isObject(text) ? text.format : null;
  if (!isObject(format)) return readResponseFormat(other);
  const { type, name, description, schema, strict } = format;
  if (type === 'text') return { kind: 'text' };
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') throw untranslatable('text.format.type', 'use text, json_object or json_schema');
  if (!isObject(schema)) throw mustBe('text.format.schema', 'a JSON schema');
  return {
    kind: 'schema',
    name: typeof name === 'string' ? name : 'answer',
    description: typeof description === 'string' ? description : null,
    schema,
    strict: typeof strict === 'boolean' ? strict : null,
  };
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
