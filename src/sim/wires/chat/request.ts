import { type Fields, isFields, readFlag, readIncludeUsage, readInteger, readModel, readStops } from '../../fields.ts';
import type {
  AnswerFormat,
  Effort,
  Prompt,
  PromptMessage,
  PromptTool,
  PromptToolCall,
  ToolChoice,
} from '../../prompt.ts';
import { EFFORTS } from '../../prompt.ts';
import { RefusedRequest, refuse } from '../../reply.ts';

export interface ChatRequest {
  readonly prompt: Prompt;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly choices: number;
  readonly logprobs: boolean;
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];
const CHOICES_MAX = 128;

/** Reads what the simulator uses. Unknown members are accepted, because a gateway may forward anything. */
export function readChatRequest(body: Fields): ChatRequest {
  const stream = readFlag(body, 'stream', false);
  return {
    prompt: readPrompt(body),
    stream,
    includeUsage: readIncludeUsage(body, stream),
    choices: readInteger(body, 'n', 1, CHOICES_MAX) ?? 1,
    logprobs: readFlag(body, 'logprobs', false),
  };
}

function readPrompt(body: Fields): Prompt {
  const tools = readTools(body.tools);
  const model = readModel(body.model);
  if (tools.length > 0 && wantsResponses(model)) checkEffortIsOff(body.reasoning_effort, model);
  return {
    model,
    messages: readMessages(body.messages),
    tools,
    toolChoice: readToolChoice(body.tool_choice, tools),
    parallelTools: readFlag(body, 'parallel_tool_calls', true),
    effort: readEffort(body.reasoning_effort),
    outputTokensMax: readInteger(body, 'max_completion_tokens', 1) ?? readInteger(body, 'max_tokens', 1),
    stops: readStops(body.stop),
    format: readFormat(body.response_format),
  };
}

/** The vendor's newer models accept tools on this wire only without reasoning. */
function wantsResponses(model: string): boolean {
  return model.includes('responses');
}

function checkEffortIsOff(effort: unknown, model: string): void {
  if (effort === 'none') return;
  const message =
    `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. ` +
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
  const refusal = { status: 400, message, type: 'invalid_request_error', code: null, param: 'reasoning_effort' };
  throw new RefusedRequest(refusal);
}

function readMessages(messages: unknown): PromptMessage[] {
  if (messages === undefined)
    refuse('missing_required_parameter', 'messages', "Missing required parameter: 'messages'.");
  if (!Array.isArray(messages) || messages.length === 0) {
    return refuse('invalid_type', 'messages', "Invalid 'messages': expected an array with at least one message.");
  }
  const read: PromptMessage[] = [];
  for (const [index, message] of messages.entries()) read.push(readMessage(message, `messages[${index}]`, read));
  return read;
}

function readMessage(message: unknown, param: string, before: readonly PromptMessage[]): PromptMessage {
  if (!isFields(message)) return refuse('invalid_type', param, `Invalid type for '${param}': expected an object.`);
  const role = message.role;
  if (typeof role !== 'string' || !ROLES.includes(role)) {
    return refuse('invalid_value', `${param}.role`, `Invalid '${param}.role': expected one of ${ROLES.join(', ')}.`);
  }
  const toolCalls = role === 'assistant' ? readToolCalls(message.tool_calls, `${param}.tool_calls`) : [];
  const toolCallId = role === 'tool' ? readToolCallId(message.tool_call_id, param, before) : null;
  return { role, toolCalls, toolCallId, ...readContent(message.content, role, toolCalls, `${param}.content`) };
}

function readContent(content: unknown, role: string, calls: readonly PromptToolCall[], param: string) {
  if (typeof content === 'string') return { text: content, images: [] };
  if (Array.isArray(content)) return readParts(content, param);
  const mayBeEmpty = role === 'assistant' && (calls.length > 0 || content === null);
  if ((content === null || content === undefined) && mayBeEmpty) return { text: '', images: [] };
  return refuse('invalid_type', param, `Invalid type for '${param}': expected a string or an array of parts.`);
}

function readParts(parts: unknown[], param: string): { text: string; images: string[] } {
  let text = '';
  const images: string[] = [];
  for (const [index, part] of parts.entries()) {
    const fields = isFields(part) ? part : {};
    const said = fields.type === 'refusal' ? fields.refusal : fields.type === 'text' ? fields.text : undefined;
    const image = fields.type === 'image_url' ? addressOf(fields.image_url) : fileData(fields);
    if (typeof said === 'string') text += said;
    else if (image !== undefined) images.push(image);
    else
      refuse('invalid_value', `${param}[${index}]`, `Invalid '${param}[${index}]': expected a text or image_url part.`);
  }
  return { text, images };
}

/** A document costs as much as an image. */
function fileData({ type, file }: Fields): string | undefined {
  return type === 'file' && isFields(file) && typeof file.file_data === 'string' ? file.file_data : undefined;
}

function addressOf(image: unknown): string | undefined {
  return isFields(image) && typeof image.url === 'string' ? image.url : undefined;
}

function readToolCalls(calls: unknown, param: string): PromptToolCall[] {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls)) return refuse('invalid_type', param, `Invalid type for '${param}': expected an array.`);
  return calls.map((call, index) => readToolCall(call, `${param}[${index}]`));
}

function readToolCall(call: unknown, param: string): PromptToolCall {
  const id = isFields(call) ? call.id : undefined;
  const called = isFields(call) ? call.function : undefined;
  const name = isFields(called) ? called.name : undefined;
  const args = isFields(called) ? called.arguments : undefined;
  if (typeof id === 'string' && typeof name === 'string' && typeof args === 'string')
    return { id, name, arguments: args };
  return refuse(
    'invalid_value',
    param,
    `Invalid '${param}': expected id, function.name and function.arguments as strings.`,
  );
}

function readToolCallId(id: unknown, param: string, before: readonly PromptMessage[]): string {
  if (typeof id !== 'string')
    refuse('missing_required_parameter', `${param}.tool_call_id`, `Missing '${param}.tool_call_id'.`);
  const isKnown = before.some((message) => message.toolCalls.some((call) => call.id === id));
  if (isKnown) return id as string;
  return refuse(
    'invalid_value',
    param,
    `Invalid '${param}': a tool message must answer a tool call of a preceding message.`,
  );
}

function readTools(tools: unknown): PromptTool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) return refuse('invalid_type', 'tools', "Invalid type for 'tools': expected an array.");
  return tools.map((tool, index) => readTool(tool, `tools[${index}]`));
}

function readTool(tool: unknown, param: string): PromptTool {
  const declared = isFields(tool) && tool.type === 'function' ? tool.function : undefined;
  const name = isFields(declared) ? declared.name : undefined;
  if (!isFields(declared) || typeof name !== 'string' || name === '') {
    return refuse('invalid_value', param, `Invalid '${param}': expected a tool of type function with a name.`);
  }
  const parameters = isFields(declared.parameters) ? declared.parameters : {};
  return { name, definition: JSON.stringify(declared), schema: { type: 'object', ...parameters } };
}

function readToolChoice(choice: unknown, tools: readonly PromptTool[]): ToolChoice {
  if (choice === undefined || choice === null) return 'auto';
  if (choice === 'auto' || choice === 'none') return choice;
  if (tools.length === 0)
    refuse('invalid_value', 'tool_choice', "'tool_choice' is only allowed when 'tools' are given.");
  if (choice === 'required') return choice;
  const named = isFields(choice) && isFields(choice.function) ? choice.function.name : undefined;
  if (typeof named === 'string' && tools.some((tool) => tool.name === named)) return { name: named };
  return refuse(
    'invalid_value',
    'tool_choice',
    "Invalid 'tool_choice': expected none, auto, required or a function of 'tools'.",
  );
}

function readEffort(effort: unknown): Effort {
  if (effort === undefined || effort === null) return 'none';
  if (EFFORTS.includes(effort as Effort)) return effort as Effort;
  return refuse(
    'invalid_value',
    'reasoning_effort',
    `Invalid 'reasoning_effort': expected one of ${EFFORTS.join(', ')}.`,
  );
}

function readFormat(format: unknown): AnswerFormat {
  if (format === undefined || format === null) return { kind: 'text' };
  const fields = isFields(format) ? format : {};
  if (fields.type === 'text') return { kind: 'text' };
  if (fields.type === 'json_object') return { kind: 'object' };
  const declared = fields.json_schema;
  if (fields.type === 'json_schema' && isFields(declared)) return { kind: 'schema', schema: declared.schema ?? {} };
  return refuse(
    'invalid_value',
    'response_format',
    "Invalid 'response_format': expected text, json_object or json_schema.",
  );
}
