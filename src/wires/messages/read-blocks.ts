import type { Block, ImageBlock, TextBlock } from '../../canonical/request.ts';
import { formatPath } from '../../json/error.ts';
import type { JsonPath, JsonText } from '../../json/json.ts';
import { readCacheMark } from '../fields/cache-mark.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { untranslatable } from '../fields/request-errors.ts';
import { readSignature, redactedOpaque } from './opaque-reasoning.ts';

/** Reads the blocks of a message; their shape was checked before. */
export function readContent(content: unknown, path: JsonPath, text: JsonText): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return (content as Members[]).map((block, index) => readBlock(block, [...path, index], text));
}

function readBlock(block: Members, path: JsonPath, text: JsonText): Block {
  switch (block.type) {
    case 'thinking':
      return {
        kind: 'reasoning',
        text: block.thinking as string,
        opaque: readSignature(String(block.signature ?? '')),
      };
    case 'redacted_thinking':
      return { kind: 'reasoning', text: '', opaque: redactedOpaque(block.data as string) };
    case 'tool_use':
      refuseMembers(block, formatPath(path), ['type', 'id', 'name', 'input', 'cache_control', 'caller']);
      refuseOtherCallers(block.caller, path);
      return {
        kind: 'tool-call',
        id: block.id as string,
        name: block.name as string,
        argumentsJson: textAt(text, [...path, 'input']),
      };
    case 'tool_result':
      return readToolResult(block, path);
    default:
      return readShown(block, path);
  }
}

/** The arguments as written: parsing would change long numbers. */
function textAt(text: JsonText, path: JsonPath): string {
  const { start, end } = text.locate(path)!;
  return text.bytes.toString('utf8', start, end);
}

function refuseOtherCallers(caller: unknown, path: JsonPath): void {
  if (isAbsent(caller) || (isObject(caller) && caller.type === 'direct')) return;
  throw untranslatable(formatPath([...path, 'caller']));
}

function readToolResult(block: Members, path: JsonPath): Block {
  refuseMembers(block, formatPath(path), ['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);
  return {
    kind: 'tool-result',
    callId: block.tool_use_id as string,
    content: readResultContent(block.content, [...path, 'content']),
    isError: block.is_error === true,
    ...readCacheMark(block.cache_control),
  };
}

function readResultContent(content: unknown, path: JsonPath): (TextBlock | ImageBlock)[] {
  if (isAbsent(content) || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return (content as Members[]).map((block, index) => readShown(block, [...path, index]));
}

/** Blocks that messages and tool results both may have. */
function readShown(block: Members, path: JsonPath): TextBlock | ImageBlock {
  const mark = readCacheMark(block.cache_control);
  if (block.type === 'text') {
    refuseMembers(block, formatPath(path), ['type', 'text', 'cache_control']);
    return { kind: 'text', text: block.text as string, ...mark };
  }
  if (block.type !== 'image') throw untranslatable(formatPath([...path, 'type']), 'send its text');
  refuseMembers(block, formatPath(path), ['type', 'source', 'cache_control']);
  return { kind: 'image', source: readSource(block.source as Members), detail: null, ...mark };
}

function readSource({ type, url, media_type: mediaType, data }: Members): ImageBlock['source'] {
  if (type === 'url') return { kind: 'url', url: url as string };
  return { kind: 'inline', mediaType: mediaType as string, base64: data as string };
}

/** Refuses other members, such as citations: they cannot be translated. Empty values are ignored. */
export function refuseMembers(holder: Members, path: string, known: readonly string[]): void {
  for (const name of Object.keys(holder)) {
    const value = holder[name];
    if (known.includes(name) || isAbsent(value) || (Array.isArray(value) && value.length === 0)) continue;
    throw untranslatable(`${path}.${name}`);
  }
}
