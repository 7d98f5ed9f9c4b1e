import type {
  Block,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  ShownBlock,
  ToolChoice,
  ToolResultBlock,
} from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import { type Adjustments, refusing } from '../adjustments.ts';
import { readCacheMark } from '../fields/cache-mark.ts';
import { readImageUrl } from '../fields/image-url.ts';
import { readFile } from '../fields/inline-file.ts';
import { isAbsent, isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { translateReasoning } from '../fields/read-reasoning.ts';
import { untranslatable } from '../fields/request-errors.ts';
import { readResponseFormat } from '../fields/response-format.ts';
import { readSampling } from '../fields/sampling.ts';
import { readVerbosity } from '../fields/verbosity.ts';
import { hasNoEffect } from '../fields/without-effect.ts';
import type { Peek } from '../peek.ts';
import { readReasoningDetails } from './reasoning-details.ts';

/** Fields that can be translated, or that were handled before. */
const CARRIED = new Set(
  `model messages stream stream_options max_tokens max_completion_tokens temperature top_p top_k frequency_penalty
   presence_penalty seed stop tools tool_choice parallel_tool_calls response_format reasoning reasoning_effort
   include_reasoning usage user metadata safety_identifier prompt_cache_key session_id store service_tier modalities
   models truncation thinking verbosity client_metadata`.split(/\s+/),
);

/** The caller's request in the common language; its fields were checked before. */
export function readRequest(text: JsonText, peek: Peek, adjustments = refusing()): CanonicalRequest {
  const body = text.value as Members;
  for (const name of Object.keys(body)) {
    if (!CARRIED.has(name) && !hasNoEffect(name, body[name])) adjustments.dropUnknown(name, body[name]);
  }
  return {
    messages: readMessages(objectsIn(body.messages), adjustments),
    tools: readTools(body.tools),
    toolChoice: readToolChoice(body.tool_choice),
    parallelToolCalls: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : null,
    sampling: readSampling(body),
    answerFormat: readResponseFormat(body.response_format, adjustments),
    reasoning: translateReasoning(body, peek, adjustments),
    verbosity: readVerbosity(body.verbosity, adjustments),
  };
}

/** Consecutive tool messages belong to one turn, so they become one user message. */
function readMessages(messages: readonly Members[], adjustments: Adjustments): CanonicalMessage[] {
  const read: CanonicalMessage[] = [];
  let results: ToolResultBlock[] | null = null;
  messages.forEach((message, index) => {
    const path = `messages[${index}]`;
    // The name in a tool result repeats the name of its call, which is translated.
    if (message.role !== 'tool' && isText(message.name)) adjustments.note(`${path}.name`);
    if (message.role === 'tool') {
      if (results === null) {
        results = [];
        read.push({ role: 'user', blocks: results });
      }
      results.push(readToolResult(message, path));
      return;
    }
    results = null;
    read.push(readMessage(message, path));
  });
  return read;
}

function readMessage(message: Members, path: string): CanonicalMessage {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', blocks: readParts(message.content, `${path}.content`) };
    case 'user':
      return { role: 'user', blocks: readParts(message.content, `${path}.content`) };
    case 'assistant':
      return { role: 'assistant', blocks: readAssistant(message, path) };
    default:
      throw untranslatable(`${path}.role`, 'send tool results with the role "tool"');
  }
}

/** An assistant turn in its original order: reasoning, text, tool calls. */
function readAssistant(message: Members, path: string): Block[] {
  if (!isAbsent(message.function_call)) throw untranslatable(`${path}.function_call`, 'send `tool_calls`');
  const blocks: Block[] = [...readReasoningDetails(message), ...readParts(message.content, `${path}.content`)];
  if (typeof message.refusal === 'string' && message.refusal !== '') {
    blocks.push({ kind: 'refusal', text: message.refusal });
  }
  objectsIn(message.tool_calls).forEach((call, index) => {
    if (!isObject(call.function)) throw untranslatable(`${path}.tool_calls[${index}].type`, 'use function tools');
    const { name, arguments: argumentsJson } = call.function;
    blocks.push({
      kind: 'tool-call',
      id: String(call.id ?? ''),
      name: String(name ?? ''),
      argumentsJson: typeof argumentsJson === 'string' ? argumentsJson : '',
    });
  });
  return blocks;
}

function readToolResult(message: Members, path: string): ToolResultBlock {
  const content = readParts(message.content, `${path}.content`).filter(
    (block): block is ShownBlock => block.kind !== 'refusal',
  );
  return { kind: 'tool-result', callId: String(message.tool_call_id ?? ''), content, isError: false };
}

function readParts(content: unknown, path: string): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return objectsIn(content).map((part, index) => readPart(part, `${path}[${index}]`));
}

function readPart(part: Members, path: string): Block {
  const cache = readCacheMark(part.cache_control);
  if (part.type === 'image_url') {
    const { url, detail } = isObject(part.image_url) ? part.image_url : { url: part.image_url };
    return { ...readImageUrl(String(url), detail, `${path}.image_url.url`), ...cache };
  }
  if (part.type === 'file') return { ...readFile(part.file as Members), ...cache };
  if (part.type === 'refusal') return { kind: 'refusal', text: String(part.refusal) };
  return { kind: 'text', text: String(part.text), ...cache };
}

function readTools(tools: unknown): CanonicalTool[] {
  return objectsIn(tools).map((tool, index) => {
    if (!isObject(tool.function)) throw untranslatable(`tools[${index}].type`, 'use function tools');
    const { name, description, parameters, strict } = tool.function;
    return {
      name: String(name),
      description: typeof description === 'string' ? description : null,
      schema: isObject(parameters) ? parameters : NO_PARAMETERS,
      strict: typeof strict === 'boolean' ? strict : null,
      ...readCacheMark(tool.cache_control),
    };
  });
}

const NO_PARAMETERS = { type: 'object', properties: {} };

function readToolChoice(choice: unknown): ToolChoice | null {
  if (isAbsent(choice)) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  if (isObject(choice) && choice.type === 'function' && isObject(choice.function)) {
    return { kind: 'tool', name: String(choice.function.name) };
  }
  throw untranslatable('tool_choice', 'send "auto", "none", "required" or a function');
}
