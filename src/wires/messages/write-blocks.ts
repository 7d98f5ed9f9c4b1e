import { GatewayError } from '../../canonical/errors.ts';
import type {
  Block,
  ImageBlock,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../canonical/request.ts';
import { tryParseJson } from '../../json/json.ts';
import { writeCacheMark } from '../fields/cache-mark.ts';
import { isObject, type Members } from '../fields/members.ts';
import { isOwnRedacted, isOwnSignature } from './opaque.ts';

/** A block as JSON text; null for what hosts of this wire refuse or must not see: empty text, unsigned or foreign traces. */
export function writeBlock(block: Block): string | null {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? null : writeText(block);
    case 'refusal':
      return block.text === '' ? null : JSON.stringify({ type: 'text', text: block.text });
    case 'image':
      return writeImage(block);
    case 'reasoning':
      return writeReasoning(block);
    case 'tool-call':
      return writeToolCall(block);
    case 'tool-result':
      return writeToolResult(block);
  }
}

function writeText({ text, cache }: TextBlock): string {
  return JSON.stringify({ type: 'text', text, ...writeCacheMark(cache) });
}

function writeImage({ source, cache }: ImageBlock): string {
  const written =
    source.kind === 'url'
      ? { type: 'url', url: source.url }
      : { type: 'base64', media_type: source.mediaType, data: source.base64 };
  return JSON.stringify({ type: 'image', source: written, ...writeCacheMark(cache) });
}

function writeReasoning({ text, opaque }: ReasoningBlock): string | null {
  if (opaque === null) return null;
  if (isOwnRedacted(opaque)) return JSON.stringify({ type: 'redacted_thinking', data: opaque.data });
  if (!isOwnSignature(opaque)) return null;
  return JSON.stringify({ type: 'thinking', thinking: text, signature: opaque.data });
}

/** The input stands as the model wrote it: a number of many digits would not survive being read. */
function writeToolCall({ id, name, argumentsJson }: ToolCallBlock): string {
  const head = JSON.stringify({ type: 'tool_use', id: toolId(id), name });
  return `${head.slice(0, -1)},"input":${inputJson(id, argumentsJson)}}`;
}

function inputJson(id: string, argumentsJson: string): string {
  if (argumentsJson.trim() === '') return '{}';
  if (isObject(tryParseJson(argumentsJson))) return argumentsJson;
  throw new GatewayError('invalid_value', {
    param: 'messages',
    message: `The arguments of the tool call ${JSON.stringify(id.slice(0, 100))} must be a JSON object for this model.`,
  });
}

function writeToolResult({ callId, content, isError, cache }: ToolResultBlock): string {
  const block: Members = { type: 'tool_result', tool_use_id: toolId(callId) };
  if (isError) block.is_error = true;
  const blocks = content.map(writeBlock).filter((one) => one !== null);
  const head = JSON.stringify({ ...block, ...writeCacheMark(cache) });
  return blocks.length === 0 ? head : `${head.slice(0, -1)},"content":[${blocks.join(',')}]}`;
}

/** Other vendors' ids may hold characters that this one's hosts refuse; calls and results change alike. */
function toolId(id: string): string {
  return id.replace(/[^\w-]/g, '_');
}
