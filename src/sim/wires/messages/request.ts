import type { IncomingHttpHeaders } from 'node:http';
import { type Fields, isAbsent, isFields } from '../../fields.ts';
import type { AnswerFormat, Prompt, PromptMessage, PromptTool, ToolChoice } from '../../prompt.ts';
import { reject } from './errors.ts';
import { hasBeta, type MessagesVersion, readVersion } from './headers.ts';
import { isAdaptiveOnly, readThinking, type Thinking } from './thinking.ts';
import { Transcript } from './transcript.ts';
import { checkThoughtsCameBack, checkToolTurns } from './turn-order.ts';
import { readTurns, type Turn } from './turns.ts';

export interface MessagesRequest {
  readonly prompt: Prompt;
  readonly transcript: Transcript;
  readonly thinking: Thinking;
  readonly stream: boolean;
}

export function readMessagesRequest(body: Fields, headers: IncomingHttpHeaders): MessagesRequest {
  return readRequest(body, headers, readOutputLimit(body.max_tokens));
}

/** Counting needs no output limit, so none is required. */
export function readCountedPrompt(body: Fields, headers: IncomingHttpHeaders): Transcript {
  return readRequest(body, headers, Number.MAX_SAFE_INTEGER).transcript;
}

function readRequest(body: Fields, headers: IncomingHttpHeaders, outputTokensMax: number): MessagesRequest {
  const version = readVersion(headers);
  checkContextManagement(body.context_management, headers);
  const model = readModel(body.model);
  const transcript = new Transcript();
  const tools = readTools(body.tools, transcript);
  const toolChoice = readToolChoice(body.tool_choice, tools);
  const thinking = readThinking(body, model, outputTokensMax);
  checkSampling(body, model, version, thinking);
  if (thinking.effort !== 'none' && (toolChoice === 'required' || typeof toolChoice === 'object')) {
    reject('Thinking may not be enabled when tool_choice forces tool use.');
  }
  const format = readFormat(body, transcript);
  const system = readSystem(body.system, transcript);
  const systemTurns = version !== '2023-06-01' || hasBeta(headers, 'mid-conversation-');
  const turns = readTurns(body.messages, { transcript, model, version, systemTurns, tools });
  checkTurns(turns, model, thinking);
  // At the top level it marks the last block.
  transcript.mark(body, 'cache_control');
  transcript.check();
  const prompt: Prompt = {
    model,
    messages: [...system, ...turns.flatMap(messagesOf)],
    tools,
    toolChoice,
    parallelTools: !isFields(body.tool_choice) || body.tool_choice.disable_parallel_tool_use !== true,
    effort: thinking.effort,
    outputTokensMax,
    stops: readStops(body.stop_sequences),
    format,
  };
  return { prompt, transcript, thinking, stream: readStream(body.stream) };
}

/** Only a beta knows the field. */
function checkContextManagement(asked: unknown, headers: IncomingHttpHeaders): void {
  if (asked !== undefined && !hasBeta(headers, 'context-management-')) {
    reject('context_management: Extra inputs are not permitted');
  }
}

function readModel(model: unknown): string {
  return typeof model === 'string' && model !== '' ? model : reject('model: Field required');
}

function readOutputLimit(limit: unknown): number {
  if (limit === undefined) return reject('max_tokens: Field required');
  if (Number.isSafeInteger(limit) && (limit as number) >= 1) return limit as number;
  return reject('max_tokens: Input should be greater than or equal to 1');
}

function readStream(stream: unknown): boolean {
  if (isAbsent(stream)) return false;
  return typeof stream === 'boolean' ? stream : reject('stream: Input should be a valid boolean');
}

function readTools(tools: unknown, transcript: Transcript): PromptTool[] {
  if (isAbsent(tools)) return [];
  if (!Array.isArray(tools)) return reject('tools: Input should be a valid list');
  return tools.map((tool, index) => readTool(tool, `tools.${index}`, transcript));
}

const COMMAND = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };
/** Tools that the client runs but the vendor defines: it adds this many tokens for each. */
const BUILT_IN = [
  { prefix: 'bash_', tokens: 325, schema: COMMAND },
  { prefix: 'text_editor_', tokens: 700, schema: COMMAND },
  { prefix: 'memory_', tokens: 900, schema: COMMAND },
  { prefix: 'computer_', tokens: 4_590, schema: COMMAND },
];

function readTool(tool: unknown, path: string, transcript: Transcript): PromptTool {
  if (!isFields(tool)) return reject(`${path}: Input should be a valid dictionary`);
  const { cache_control: _, ...declared } = tool;
  const { name, type, input_schema: schema } = declared;
  const builtIn = typeof type === 'string' ? BUILT_IN.find(({ prefix }) => type.startsWith(prefix)) : undefined;
  if (builtIn !== undefined) {
    transcript.addTool(JSON.stringify(declared), builtIn.tokens);
    transcript.mark(tool, path);
    return { name: String(name), definition: JSON.stringify(declared), schema: builtIn.schema };
  }
  if (!isAbsent(type) && type !== 'custom') {
    reject(`${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'custom'`);
  }
  if (typeof name !== 'string' || name === '') return reject(`${path}.custom.name: Field required`);
  if (!isFields(schema)) return reject(`${path}.custom.input_schema: Field required`);
  const definition = JSON.stringify(declared);
  // The model reads a deferred tool where a message refers to it.
  if (declared.defer_loading !== true) transcript.addTool(definition);
  transcript.mark(tool, path);
  return { name, definition, schema: { type: 'object', ...schema } };
}

function readToolChoice(choice: unknown, tools: readonly PromptTool[]): ToolChoice {
  if (isAbsent(choice)) return 'auto';
  const fields = isFields(choice) ? choice : {};
  if (fields.type === 'auto' || fields.type === 'none') return fields.type;
  if (tools.length === 0) reject('tool_choice: `tool_choice` may only be specified while providing `tools`.');
  if (fields.type === 'any') return 'required';
  if (fields.type !== 'tool') reject("tool_choice: Input tag must be one of 'auto', 'any', 'tool', 'none'");
  const { name } = fields;
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { name };
  return reject(`tool_choice: Tool '${String(name)}' not found in provided tools`);
}

const SAMPLING = ['temperature', 'top_p', 'top_k'];

/** Newer models, and the newer version, accept no sampling settings at all, not even the defaults. */
function checkSampling(body: Fields, model: string, version: MessagesVersion, thinking: Thinking): void {
  const given = SAMPLING.find((name) => !isAbsent(body[name]));
  if (given === undefined) return;
  if (isAdaptiveOnly(model)) reject(`\`${given}\` is deprecated for this model.`);
  if (version !== '2023-06-01') reject(`${given}: this parameter is not supported in API version ${version}`);
  if (thinking.effort === 'none') return;
  if (!isAbsent(body.temperature) && body.temperature !== 1) {
    reject('`temperature` may only be set to 1 when thinking is enabled.');
  }
  if (!isAbsent(body.top_k)) reject('`top_k` must be unset when thinking is enabled.');
}

function readFormat(body: Fields, transcript: Transcript): AnswerFormat {
  const config = isFields(body.output_config) ? body.output_config : {};
  const format = config.format ?? body.output_format;
  if (isAbsent(format)) return { kind: 'text' };
  if (!isFields(format) || format.type !== 'json_schema' || !isFields(format.schema)) {
    return reject("output_config.format: Input should be a valid 'json_schema' format");
  }
  transcript.addText('format', JSON.stringify(format.schema), false);
  return { kind: 'schema', schema: format.schema };
}

function readSystem(system: unknown, transcript: Transcript): PromptMessage[] {
  if (isAbsent(system)) return [];
  if (typeof system === 'string') {
    transcript.addText('system', system, true);
    return [messageOf('system', system, [])];
  }
  if (!Array.isArray(system)) return reject('system: Input should be a valid string or list');
  let text = '';
  for (const [index, block] of system.entries()) {
    const fields = isFields(block) ? block : {};
    if (fields.type !== 'text' || typeof fields.text !== 'string')
      return reject(`system.${index}.text: Field required`);
    if (fields.text === '') reject('system: text content blocks must be non-empty');
    transcript.addText('system', fields.text, index === 0);
    transcript.mark(fields, `system.${index}`);
    text += fields.text;
  }
  return system.length === 0 ? [] : [messageOf('system', text, [])];
}

function checkTurns(turns: readonly Turn[], model: string, thinking: Thinking): void {
  if (turns[0]!.role === 'assistant') reject('messages: first message must use the "user" role');
  if (turns.at(-1)!.role === 'assistant' && (isAdaptiveOnly(model) || thinking.effort !== 'none')) {
    reject('This model does not support assistant message prefill. The conversation must end with a user message.');
  }
  checkToolTurns(turns);
  if (thinking.mustComeBack) checkThoughtsCameBack(turns);
}

/** Tool results are messages of their own in the simulator's form. */
function messagesOf({ role, text, images, calls, results, types }: Turn): PromptMessage[] {
  const onlyResults = results.length > 0 && results.length === types.length;
  return onlyResults ? [...results] : [...results, { ...messageOf(role, text, images), toolCalls: calls }];
}

function messageOf(role: string, text: string, images: readonly string[]): PromptMessage {
  return { role, text, images, toolCalls: [], toolCallId: null };
}

function readStops(stops: unknown): string[] {
  if (isAbsent(stops)) return [];
  if (!Array.isArray(stops) || !stops.every((stop) => typeof stop === 'string')) {
    return reject('stop_sequences: Input should be a valid list of strings');
  }
  if (stops.some((stop) => stop.trim() === '')) {
    reject('stop_sequences: each stop sequence must contain non-whitespace');
  }
  return stops;
}
