import { type Fields, isAbsent, isFields, readFlag, readInteger, readModel } from '../../fields.ts';
import type { AnswerFormat, Prompt, PromptMessage, PromptTool, ToolChoice } from '../../prompt.ts';
import { RefusedRequest, refuse } from '../../reply.ts';
import { readInput } from './items.ts';
import { type ReasoningAsk, readReasoning } from './reasoning.ts';

export interface ResponsesRequest {
  readonly prompt: Prompt;
  readonly stream: boolean;
  readonly reasoning: ReasoningAsk;
  /** Return encrypted reasoning, so that the caller can send it back. */
  readonly sealed: boolean;
  /** Deltas are padded unless the caller declines. */
  readonly obfuscated: boolean;
  /** The request as every response repeats it. */
  readonly echo: Fields;
}

const OUTPUT_TOKENS_MIN = 16;

export function readResponsesRequest(body: Fields): ResponsesRequest {
  refuseState(body);
  const model = readModel(body.model);
  const store = readFlag(body, 'store', true);
  const tools = readTools(body.tools);
  const reasoning = readReasoning(body.reasoning);
  const outputTokensMax = readOutputLimit(body);
  const prompt: Prompt = {
    model,
    messages: [...readInstructions(body.instructions), ...readInput(body.input, { model, store })],
    tools: tools.map((tool) => tool.tool),
    toolChoice: readToolChoice(body.tool_choice, tools),
    parallelTools: readFlag(body, 'parallel_tool_calls', true),
    effort: reasoning.effort ?? 'none',
    outputTokensMax,
    stops: [],
    format: readFormat(body.text),
  };
  return {
    prompt,
    stream: readFlag(body, 'stream', false),
    reasoning,
    sealed: Array.isArray(body.include) && body.include.includes('reasoning.encrypted_content'),
    obfuscated: !isFields(body.stream_options) || body.stream_options.include_obfuscation !== false,
    echo: echoOf(
      body,
      tools.map((tool) => tool.echo),
    ),
  };
}

/** The simulator stores no responses, so no earlier one can be found. */
function refuseState(body: Fields): void {
  const { previous_response_id: previous, conversation } = body;
  if (!isAbsent(previous)) {
    const message = `Previous response with id '${previous}' not found.`;
    refuse('previous_response_not_found', 'previous_response_id', message);
  }
  if (!isAbsent(conversation)) {
    const message = 'Conversation not found.';
    throw new RefusedRequest({
      status: 404,
      message,
      type: 'invalid_request_error',
      code: null,
      param: 'conversation',
    });
  }
  if (body.background === true) refuse('unsupported_value', 'background', "'background' is not simulated.");
}

function readOutputLimit(body: Fields): number | null {
  const limit = readInteger(body, 'max_output_tokens', 0);
  if (limit === null || limit >= OUTPUT_TOKENS_MIN) return limit;
  const message =
    "Invalid 'max_output_tokens': integer below minimum value. " +
    `Expected a value >= ${OUTPUT_TOKENS_MIN}, but got ${limit} instead.`;
  return refuse('integer_below_min_value', 'max_output_tokens', message);
}

function readInstructions(instructions: unknown): PromptMessage[] {
  if (isAbsent(instructions)) return [];
  if (typeof instructions === 'string') {
    return [{ role: 'system', text: instructions, images: [], toolCalls: [], toolCallId: null }];
  }
  return refuse('invalid_type', 'instructions', "Invalid type for 'instructions': expected a string.");
}

interface ReadTool {
  readonly tool: PromptTool;
  readonly echo: Fields;
}

function readTools(tools: unknown): ReadTool[] {
  if (isAbsent(tools)) return [];
  if (!Array.isArray(tools)) return refuse('invalid_type', 'tools', "Invalid type for 'tools': expected an array.");
  return tools.map((tool, index) => readTool(tool, `tools[${index}]`));
}

function readTool(tool: unknown, path: string): ReadTool {
  if (!isFields(tool) || tool.type !== 'function') {
    return refuse('invalid_value', `${path}.type`, `Invalid '${path}.type': only functions are simulated.`);
  }
  const { type, name, description = null, parameters = null, strict } = tool;
  if (typeof name !== 'string' || name === '') {
    return refuse('missing_required_parameter', `${path}.name`, `Missing required parameter: '${path}.name'.`);
  }
  const schema = { type: 'object', ...(isFields(parameters) ? parameters : {}) };
  const definition = JSON.stringify({ name, description, parameters });
  // Unlike on the chat wire, a tool is strict by default.
  const echo = { type, description, name, parameters, strict: strict ?? true };
  return { tool: { name, definition, schema }, echo };
}

function readToolChoice(choice: unknown, tools: readonly ReadTool[]): ToolChoice {
  if (isAbsent(choice)) return 'auto';
  if (choice === 'auto' || choice === 'none') return choice;
  if (tools.length === 0)
    refuse('invalid_value', 'tool_choice', "'tool_choice' is only allowed when 'tools' are given.");
  if (choice === 'required') return choice;
  const fields = isFields(choice) ? choice : {};
  if (fields.type === 'allowed_tools') return fields.mode === 'required' ? 'required' : 'auto';
  const { name } = fields;
  const isKnown = fields.type === 'function' && tools.some(({ tool }) => tool.name === name);
  if (isKnown) return { name: name as string };
  return refuse('invalid_value', 'tool_choice', "Invalid 'tool_choice': expected a word or a function of 'tools'.");
}

function readFormat(text: unknown): AnswerFormat {
  const format = isFields(text) ? text.format : undefined;
  if (isAbsent(format)) return { kind: 'text' };
  const fields = isFields(format) ? format : {};
  if (fields.type === 'text') return { kind: 'text' };
  if (fields.type === 'json_object') return { kind: 'object' };
  if (fields.type !== 'json_schema') {
    return refuse('invalid_value', 'text.format.type', "Invalid 'text.format.type'.");
  }
  for (const member of ['name', 'schema']) {
    const path = `text.format.${member}`;
    if (isAbsent(fields[member])) refuse('missing_required_parameter', path, `Missing required parameter: '${path}'.`);
  }
  return { kind: 'schema', schema: fields.schema };
}

function echoOf(body: Fields, tools: readonly Fields[]): Fields {
  const text = isFields(body.text) ? body.text : {};
  const reasoning = isFields(body.reasoning) ? body.reasoning : {};
  return {
    background: false,
    frequency_penalty: 0,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    model: body.model,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: reasoning.effort ?? 'none', summary: reasoning.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: text.format ?? { type: 'text' }, verbosity: text.verbosity ?? 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools,
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    user: body.user ?? null,
    metadata: body.metadata ?? {},
  };
}
