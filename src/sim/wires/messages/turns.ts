import { type Fields, isAbsent, isFields } from '../../fields.ts';
import type { PromptMessage, PromptTool, PromptToolCall } from '../../prompt.ts';
import { reject } from './errors.ts';
import type { MessagesVersion } from './headers.ts';
import { checkThinkingBlock } from './thinking.ts';
import type { Transcript } from './transcript.ts';

/** One message of the request, parsed. */
export interface Turn {
  readonly path: string;
  readonly role: 'user' | 'assistant' | 'system';
  /** The types of its blocks, in order. */
  readonly types: readonly string[];
  readonly text: string;
  readonly images: readonly string[];
  readonly calls: readonly PromptToolCall[];
  readonly results: readonly PromptMessage[];
}

interface OpenTurn extends Turn {
  types: string[];
  text: string;
  images: string[];
  calls: PromptToolCall[];
  results: PromptMessage[];
}

/** What reading a block may need. */
interface Terms {
  readonly transcript: Transcript;
  readonly model: string;
  readonly version: MessagesVersion;
  /** Whether messages may have the role "system". */
  readonly systemTurns: boolean;
  readonly tools: readonly PromptTool[];
}

export function readTurns(messages: unknown, terms: Terms): Turn[] {
  if (messages === undefined) return reject('messages: Field required');
  if (!Array.isArray(messages)) return reject('messages: Input should be a valid list');
  if (messages.length === 0) return reject('messages: at least one message is required');
  return messages.map((message, index) => readTurn(message, `messages.${index}`, terms));
}

function readTurn(message: unknown, path: string, terms: Terms): Turn {
  if (!isFields(message)) return reject(`${path}: Input should be a valid dictionary`);
  const role = readRole(message.role, path, terms.systemTurns);
  const turn: OpenTurn = { path, role, types: [], text: '', images: [], calls: [], results: [] };
  for (const [index, block] of blocksOf(message.content, path).entries()) {
    readBlock(block, `${path}.content.${index}`, turn, terms);
  }
  if (turn.types.includes('text') && turn.text.trim() === '') {
    reject('messages: text content blocks must contain non-whitespace text');
  }
  return turn;
}

function readRole(role: unknown, path: string, systemTurns: boolean): Turn['role'] {
  if (role === 'user' || role === 'assistant') return role;
  if (role !== 'system') return reject(`${path}.role: Input should be 'user' or 'assistant'`);
  if (systemTurns) return role;
  return reject(
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, ' +
      'not "system" as an input message role.',
  );
}

function blocksOf(content: unknown, path: string): unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (Array.isArray(content)) return content;
  return reject(`${path}.content: Input should be a valid string or list`);
}

type BlockReader = (block: Fields, path: string, turn: OpenTurn, terms: Terms) => void;

const READERS: Record<string, BlockReader> = {
  text: readText,
  image: readImage,
  document: readDocument,
  tool_use: readToolUse,
  tool_result: readToolResult,
  thinking: readThought,
  redacted_thinking: readThought,
  tool_reference: readToolReference,
  tool_addition: readToolChange,
  tool_removal: readToolChange,
};

function readBlock(block: unknown, path: string, turn: OpenTurn, terms: Terms): void {
  const type = isFields(block) ? String(block.type) : 'none';
  const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (!isFields(block) || read === undefined) {
    const known = Object.keys(READERS).map((name) => `'${name}'`);
    reject(
      `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${known.join(', ')}`,
    );
  }
  read(block, path, turn, terms);
  turn.types.push(type);
  terms.transcript.mark(block, path);
}

function readText(block: Fields, path: string, turn: OpenTurn, { transcript, version }: Terms): void {
  const { text, citations } = block;
  if (typeof text !== 'string') reject(`${path}.text.text: Field required`);
  if (text === '') reject('messages: text content blocks must be non-empty');
  if (version !== '2023-06-01' && turn.role === 'user' && Array.isArray(citations) && citations.length > 0) {
    reject(`${path}.text.citations: citations are not allowed in user messages`);
  }
  transcript.addText(turn.role, text, turn.types.length === 0);
  turn.text += text;
}

function readImage(block: Fields, path: string, turn: OpenTurn, { transcript }: Terms): void {
  const address = addressOf(block.source, `${path}.image.source`);
  transcript.addImage(address);
  turn.images.push(address);
}

/** A text document is read as text, any other like an image. */
function readDocument(block: Fields, path: string, turn: OpenTurn, { transcript, version }: Terms): void {
  if (version !== '2023-06-01' && turn.role === 'assistant') {
    reject(`${path}: document blocks are not allowed in assistant messages`);
  }
  const { source } = block;
  if (isFields(source) && source.type === 'text' && typeof source.data === 'string') {
    transcript.addText('document', source.data, false);
    turn.text += source.data;
    return;
  }
  if (isFields(source) && source.type === 'base64' && source.media_type !== 'application/pdf') {
    reject(`${path}.document.source.base64.media_type: Input should be 'application/pdf'`);
  }
  transcript.addImage(addressOf(source, `${path}.document.source`));
}

function addressOf(source: unknown, path: string): string {
  const fields = isFields(source) ? source : {};
  const address =
    fields.type === 'base64'
      ? fields.data
      : fields.type === 'url'
        ? fields.url
        : fields.type === 'file' && fields.file_id;
  return typeof address === 'string' ? address : reject(`${path}: Input should be a valid base64, url or file source`);
}

const TOOL_ID = /^[a-zA-Z0-9_-]+$/;

function readToolUse(block: Fields, path: string, turn: OpenTurn, { transcript }: Terms): void {
  if (turn.role !== 'assistant') reject(`${path}: \`tool_use\` blocks can only be in \`assistant\` messages`);
  const { id, name, input } = block;
  if (typeof id !== 'string') reject(`${path}.tool_use.id: Field required`);
  if (!TOOL_ID.test(id)) reject(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (typeof name !== 'string') reject(`${path}.tool_use.name: Field required`);
  if (!isFields(input)) reject(`${path}.tool_use.input: Input should be a valid dictionary`);
  const call = { id, name, arguments: JSON.stringify(input) };
  transcript.addText('call', `${name} ${call.arguments}`, turn.types.length === 0);
  turn.calls.push(call);
}

function readToolResult(block: Fields, path: string, turn: OpenTurn, terms: Terms): void {
  if (turn.role !== 'user') reject(`${path}: \`tool_result\` blocks can only be in \`user\` messages`);
  const id = block.tool_use_id;
  if (typeof id !== 'string') reject(`${path}.tool_result.tool_use_id: Field required`);
  if (turn.types.some((type) => type !== 'tool_result')) {
    reject(`${path}: \`tool_result\` blocks must come before other content in the message`);
  }
  const result: OpenTurn = { path, role: 'user', types: [], text: '', images: [], calls: [], results: [] };
  for (const [index, part] of resultBlocks(block.content, path).entries()) {
    readBlock(part, `${path}.tool_result.content.${index}`, result, terms);
  }
  const text = block.is_error === true ? `error: ${result.text}` : result.text;
  turn.results.push({ role: 'tool', text, images: result.images, toolCalls: [], toolCallId: id });
}

function resultBlocks(content: unknown, path: string): unknown[] {
  return isAbsent(content) || content === '' ? [] : blocksOf(content, `${path}.tool_result`);
}

/** The whole definition stands in this place. */
function readToolReference({ tool_name: name }: Fields, path: string, _: OpenTurn, { transcript, tools }: Terms): void {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) reject(`${path}: Tool reference '${String(name)}' not found in available tools`);
  transcript.addTool(found.definition);
}

function readToolChange({ type, tool }: Fields, path: string, turn: OpenTurn, terms: Terms): void {
  const { type: kind, name, definition } = isFields(tool) ? tool : {};
  if (kind === 'tool_definition' && type === 'tool_addition') terms.transcript.addTool(JSON.stringify(definition));
  else if (kind !== 'tool_reference') reject(`${path}.tool: Input tag '${String(kind)}' is not expected`);
  else if (type === 'tool_addition') readToolReference({ tool_name: name }, path, turn, terms);
}

/** Reasoning of earlier turns is checked and then dropped, so it costs nothing. */
function readThought(block: Fields, path: string, turn: OpenTurn, { model }: Terms): void {
  if (turn.role !== 'assistant') reject(`${path}: \`${block.type}\` blocks can only be in \`assistant\` messages`);
  checkThinkingBlock(block, model, path);
}
