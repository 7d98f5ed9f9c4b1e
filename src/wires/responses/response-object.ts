import type { FinishEvent } from '../../canonical/events.ts';
import { REQUEST_PREFIX } from '../../canonical/id-prefixes.ts';
import { isPublishedTier } from '../fields/host-members.ts';
import { isAbsent, isCount, isObject, type Members, objectsIn } from '../fields/members.ts';
import type { WriteTerms } from '../hub.ts';

/** Every field of a response with its default; clients read them without checking that they exist. */
const UNASKED: Members = {
  id: '',
  object: 'response',
  created_at: 0,
  completed_at: null,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: '',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  truncation: 'disabled',
  usage: null,
  user: null,
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
  access_programs: null,
};

const FIELDS = Object.keys(UNASKED);

export function responseObject(members: Members): Members {
  return { ...UNASKED, ...members };
}

/** Adds missing fields in place, and replaces a service tier of the host's own; true if anything changed. */
export function completeResponse(response: Members): boolean {
  let changed = !isPublishedTier(response.service_tier);
  if (changed) response.service_tier = undefined;
  for (const name of FIELDS) {
    if (response[name] !== undefined) continue;
    response[name] = UNASKED[name];
    changed = true;
  }
  return changed;
}

/** Every completed response says when it was; some hosts leave that out. Their clock and ours may differ. */
export function completedAt({ status, created_at: created, completed_at: completed }: Members, nowS: number): unknown {
  if (status !== 'completed') return null;
  return isCount(completed) ? completed : Math.max(nowS, isCount(created) ? created : 0);
}

/** The part of the request id that is used in ids of the response. */
export function idStem(requestId: string): string {
  return requestId.startsWith(REQUEST_PREFIX) ? requestId.slice(REQUEST_PREFIX.length) : requestId;
}

export function responseId(requestId: string): string {
  return `resp_${idStem(requestId)}`;
}

/** The response object at the start of a stream. */
export function begunResponse({ requestId, createdS, catalogModel, outputLimit, request }: WriteTerms): Members {
  return responseObject({
    id: responseId(requestId),
    created_at: createdS,
    model: catalogModel,
    max_output_tokens: outputLimit,
    ...echoOf(request),
  });
}

/** The response members for a finish reason. */
export function endingOf({ reason }: FinishEvent): Members {
  if (reason === 'length') return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (reason === 'content_filter') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  return { status: 'completed' };
}

/** Fields of a response that repeat the request unchanged. */
const REPEATED = [
  'frequency_penalty',
  'instructions',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'presence_penalty',
  'prompt_cache_key',
  'safety_identifier',
  'temperature',
  'tool_choice',
  'top_logprobs',
  'top_p',
  'user',
];

/** The fields of a response that repeat its request. */
function echoOf(request: unknown): Members {
  if (!isObject(request)) return {};
  const echo: Members = {};
  for (const name of REPEATED) if (!isAbsent(request[name])) echo[name] = request[name];
  if (isObject(request.reasoning) || typeof request.reasoning_effort === 'string')
    echo.reasoning = echoReasoning(request);
  if (isObject(request.text)) echo.text = echoText(request.text);
  if (Array.isArray(request.tools)) echo.tools = echoTools(request.tools);
  return echo;
}

/** Repeats the caller's labels, even those that were not sent to the host. */
export function echoLabels(request: unknown): Members {
  const echo: Members = {};
  if (!isObject(request)) return echo;
  for (const name of LABELS) if (!isAbsent(request[name])) echo[name] = request[name];
  return echo;
}

const LABELS = ['metadata', 'prompt_cache_key', 'safety_identifier', 'user'];

function echoReasoning({ reasoning, reasoning_effort: word }: Members): Members {
  const asked = isObject(reasoning) ? reasoning : {};
  return { effort: asked.effort ?? word ?? null, summary: asked.summary ?? null };
}

function echoText({ format, verbosity }: Members): Members {
  return { format: isObject(format) ? echoFormat(format) : { type: 'text' }, verbosity: verbosity ?? 'medium' };
}

function echoFormat(format: Members): Members {
  if (format.type !== 'json_schema') return format;
  return { ...format, description: format.description ?? null, strict: format.strict ?? false };
}

/** The tools of a request as responses repeat them. */
export function echoTools(tools: unknown): Members[] {
  return objectsIn(tools).map(echoTool);
}

function echoTool(tool: Members): Members {
  if (tool.type !== 'function') return tool;
  const { description = null, parameters = null, strict = null } = tool;
  return { ...tool, description, parameters, strict };
}
