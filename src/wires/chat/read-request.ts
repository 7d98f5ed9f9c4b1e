import type { CanonicalRequest, CanonicalTool } from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import { type Adjustments, refusing } from '../adjustments.ts';
import { noteCacheOptions, readCacheMark, readCacheRetention, readOwnMark } from '../fields/cache-mark.ts';
import { type Members, objectsIn } from '../fields/members.ts';
import { noteOthers, noteStreamOptions, optionalFlag, optionalSchema, optionalText } from '../fields/other-members.ts';
import { readResponseFormat } from '../fields/response-format.ts';
import { readSampling } from '../fields/sampling.ts';
import { translateReasoning } from '../fields/translate-reasoning.ts';
import { readVerbosity } from '../fields/verbosity.ts';
import { hasNoEffect } from '../fields/without-effect.ts';
import type { Peek } from '../peek.ts';
import { readCustomTool } from './custom-tools.ts';
import { readMessages } from './read-messages.ts';
import { readToolChoice } from './read-tool-choice.ts';

/** Fields that can be translated, or that were handled before. */
const CARRIED = new Set(
  `model messages stream stream_options max_tokens max_completion_tokens temperature top_p top_k frequency_penalty
   presence_penalty seed stop tools tool_choice parallel_tool_calls response_format reasoning reasoning_effort
   include_reasoning usage user metadata safety_identifier prompt_cache_key session_id store service_tier modalities
   models truncation thinking verbosity client_metadata prompt_cache_retention prompt_cache_options cache_control`.split(
    /\s+/,
  ),
);

/** The caller's request in the canonical form; its fields were checked before. */
export function readRequest(text: JsonText, peek: Peek, adjustments = refusing()): CanonicalRequest {
  const body = text.value as Members;
  for (const name of Object.keys(body)) {
    if (!CARRIED.has(name) && !hasNoEffect(name, body[name])) adjustments.dropUnknown(name, body[name]);
  }
  noteStreamOptions(body, adjustments);
  noteCacheOptions(body, adjustments);
  const tools = objectsIn(text.exactMember('tools')).map((tool, index) =>
    readTool(tool, `tools[${index}]`, adjustments),
  );
  return {
    messages: readMessages(objectsIn(body.messages), adjustments),
    ...readToolChoice(body.tool_choice, tools, adjustments),
    parallelToolCalls: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : null,
    sampling: readSampling(text),
    responseFormat: readResponseFormat(text.exactMember('response_format'), adjustments),
    reasoning: translateReasoning(body, peek, adjustments),
    verbosity: readVerbosity(body.verbosity, adjustments),
    ...readCacheRetention(body),
    ...readCacheMark(body.cache_control),
  };
}

const TOOL_MEMBERS: ReadonlySet<string> = new Set(['type', 'function', 'cache_control']);
const FUNCTION_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict', 'cache_control']);

function readTool(tool: Members, path: string, adjustments: Adjustments): CanonicalTool {
  if (tool.type === 'custom') return readCustomTool(tool, path, adjustments);
  const at = `${path}.function`;
  const offered = tool.function as Members;
  noteOthers(tool, path, TOOL_MEMBERS, adjustments);
  noteOthers(offered, at, FUNCTION_MEMBERS, adjustments);
  const { name, description, parameters, strict } = offered;
  return {
    name: String(name),
    description: optionalText(description, `${at}.description`),
    schema: optionalSchema(parameters, `${at}.parameters`) ?? NO_PARAMETERS,
    strict: optionalFlag(strict, `${at}.strict`),
    // Clients put the mark of a tool into either object.
    ...readOwnMark(offered),
    ...readOwnMark(tool),
  };
}

const NO_PARAMETERS = { type: 'object', properties: {} };
