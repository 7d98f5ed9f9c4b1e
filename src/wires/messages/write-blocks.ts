import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../canonical/errors.ts';
import type {
  Block,
  DocumentBlock,
  ImageBlock,
  ReasoningBlock,
  RefusalBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
} from '../../canonical/request.ts';
import { tryParseJson } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import { writeCacheMark } from '../fields/cache-mark.ts';
import { acceptedCallId } from '../fields/call-id.ts';
import { isTextType } from '../fields/inline-file.ts';
import { isObject, type Members } from '../fields/members.ts';
import { isOwnRedacted, isOwnSignature } from './opaque-reasoning.ts';

/** A block as JSON; null for blocks that are left out: empty text, and reasoning without a signature of this vendor. */
export function writeBlock(block: Block, adjustments: Adjustments): string | null {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? null : writeText(block);
    case 'refusal':
      return block.text === '' ? null : JSON.stringify({ type: 'text', text: block.text });
    case 'image':
      return writeImage(block);
    case 'document':
      return writeDocument(block, adjustments);
    case 'reasoning':
      return writeReasoning(block);
    case 'tool-call':
      return writeToolCall(block, adjustments);
    case 'tool-result':
      return writeToolResult(block, adjustments);
  }
}

/** Hosts refuse white space as the only text of a turn; models of other vendors write it before they call tools. */
export function withoutBlankText<Kind extends Block>(blocks: readonly Kind[]): readonly Kind[] {
  return blocks.some((block) => isText(block) && block.text.trim() !== '') ? blocks : blocks.filter(isNotText);
}

function isText(block: Block): block is TextBlock | RefusalBlock {
  return block.kind === 'text' || block.kind === 'refusal';
}

function isNotText(block: Block): boolean {
  return !isText(block);
}

function writeText({ text, cache }: TextBlock): string {
  return JSON.stringify({ type: 'text', text, ...writeCacheMark(cache) });
}

function writeImage({ source, cache }: ImageBlock): string {
  const written =
    source.kind === 'url'
      ? { type: 'url', url: source.url }
      : { type: 'base64', media_type: registeredType(source.mediaType), data: source.base64 };
  return JSON.stringify({ type: 'image', source: written, ...writeCacheMark(cache) });
}

/** Hosts of other wires also take a common misspelling of this type. */
function registeredType(mediaType: string): string {
  const written = mediaType.toLowerCase();
  return written === 'image/jpg' ? 'image/jpeg' : written;
}

/** Hosts take text as text only, under this one type. */
function writeSource({ mediaType, base64 }: DocumentBlock, adjustments: Adjustments): Members {
  if (!isTextType(mediaType)) return { type: 'base64', media_type: mediaType, data: base64 };
  const bytes = Buffer.from(base64, 'base64');
  if (isUtf8(bytes)) return { type: 'text', media_type: 'text/plain', data: bytes.toString('utf8') };
  throw new GatewayError('invalid_value', {
    param: adjustments.writtenName('messages'),
    message: `A document of type ${mediaType} must be encoded as UTF-8 for this model.`,
  });
}

function writeDocument(document: DocumentBlock, adjustments: Adjustments): string {
  const { filename, cache } = document;
  const source = writeSource(document, adjustments);
  const title = filename === null ? {} : { title: filename };
  return JSON.stringify({ type: 'document', source, ...title, ...writeCacheMark(cache) });
}

function writeReasoning({ text, opaque }: ReasoningBlock): string | null {
  if (opaque === null) return null;
  if (isOwnRedacted(opaque)) return JSON.stringify({ type: 'redacted_thinking', data: opaque.data });
  if (!isOwnSignature(opaque)) return null;
  return JSON.stringify({ type: 'thinking', thinking: text, signature: opaque.data });
}

/** The input as the model wrote it: parsing would change long numbers. */
function writeToolCall({ id, name, argumentsJson, cache }: ToolCallBlock, adjustments: Adjustments): string {
  const head = JSON.stringify({ type: 'tool_use', id: toolId(id), name, ...writeCacheMark(cache) });
  return `${head.slice(0, -1)},"input":${inputJson(id, argumentsJson, adjustments)}}`;
}

function inputJson(id: string, argumentsJson: string, adjustments: Adjustments): string {
  if (argumentsJson.trim() === '') return '{}';
  if (isObject(tryParseJson(argumentsJson))) return argumentsJson;
  throw new GatewayError('invalid_value', {
    param: adjustments.writtenName('messages'),
    message: `The arguments of the tool call ${JSON.stringify(id.slice(0, 100))} must be a JSON object for this model.`,
  });
}

function writeToolResult({ callId, content, isError, cache }: ToolResultBlock, adjustments: Adjustments): string {
  const block: Members = { type: 'tool_result', tool_use_id: toolId(callId) };
  if (isError) block.is_error = true;
  const blocks = withoutBlankText(content)
    .map((shown) => writeBlock(shown, adjustments))
    .filter((one) => one !== null);
  const head = JSON.stringify({ ...block, ...writeCacheMark(cache) });
  return blocks.length === 0 ? head : `${head.slice(0, -1)},"content":[${blocks.join(',')}]}`;
}

const TOOL_ID = /^[\w-]+$/;

function toolId(id: string): string {
  return acceptedCallId(id, TOOL_ID);
}
