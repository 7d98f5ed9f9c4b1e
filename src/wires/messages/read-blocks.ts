import type { Block, DocumentBlock, ImageBlock, ShownBlock } from '../../canonical/request.ts';
import { formatPath } from '../../json/error.ts';
import type { JsonPath, JsonText } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import { readCacheMark } from '../fields/cache-mark.ts';
import { isAbsent, isObject, isText, type Members } from '../fields/members.ts';
import { noteOthers, optionalFlag } from '../fields/other-members.ts';
import { untranslatable } from '../fields/request-errors.ts';
import { hasNoEffect } from '../fields/without-effect.ts';
import { readSignature, redactedOpaque } from './opaque-reasoning.ts';

/** Reads the blocks of a message; their shape was checked before. */
export function readContent(content: unknown, path: JsonPath, text: JsonText, adjustments: Adjustments): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return (content as Members[]).map((block, index) => readBlock(block, [...path, index], text, adjustments));
}

function readBlock(block: Members, path: JsonPath, text: JsonText, adjustments: Adjustments): Block {
  switch (block.type) {
    case 'thinking':
      noteOthers(block, formatPath(path), THINKING_MEMBERS, adjustments);
      return {
        kind: 'reasoning',
        text: block.thinking as string,
        opaque: readSignature(String(block.signature ?? '')),
      };
    case 'redacted_thinking':
      noteOthers(block, formatPath(path), REDACTED_MEMBERS, adjustments);
      return { kind: 'reasoning', text: '', opaque: redactedOpaque(block.data as string) };
    case 'tool_use':
      dropMembers(block, formatPath(path), ['type', 'id', 'name', 'input', 'cache_control', 'caller'], adjustments);
      dropOtherCallers(block.caller, path, adjustments);
      return {
        kind: 'tool-call',
        id: block.id as string,
        name: block.name as string,
        argumentsJson: textAt(text, [...path, 'input']),
        ...readCacheMark(block.cache_control),
      };
    case 'tool_result':
      return readToolResult(block, path, adjustments);
    default:
      return readShown(block, path, adjustments);
  }
}

/** A cache mark is only a hint. */
const THINKING_MEMBERS: ReadonlySet<string> = new Set(['type', 'thinking', 'signature', 'cache_control']);
const REDACTED_MEMBERS: ReadonlySet<string> = new Set(['type', 'data', 'cache_control']);

/** The arguments as written: parsing would change long numbers. */
function textAt(text: JsonText, path: JsonPath): string {
  const { start, end } = text.locate(path)!;
  return text.bytes.toString('utf8', start, end);
}

function dropOtherCallers(caller: unknown, path: JsonPath, adjustments: Adjustments): void {
  if (isAbsent(caller) || (isObject(caller) && caller.type === 'direct')) return;
  adjustments.drop(formatPath([...path, 'caller']));
}

/** Hosts of other wires take no flag for a failed tool, so only the text can say so. */
function readToolResult(block: Members, path: JsonPath, adjustments: Adjustments): Block {
  const flag = formatPath([...path, 'is_error']);
  const isError = optionalFlag(block.is_error, flag) === true;
  if (isError) adjustments.note(flag);
  dropMembers(block, formatPath(path), ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'], adjustments);
  return {
    kind: 'tool-result',
    callId: block.tool_use_id as string,
    content: readResultContent(block.content, [...path, 'content'], adjustments),
    isError,
    ...readCacheMark(block.cache_control),
  };
}

function readResultContent(content: unknown, path: JsonPath, adjustments: Adjustments): ShownBlock[] {
  if (isAbsent(content) || content === '') return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return (content as Members[]).map((block, index) => readShown(block, [...path, index], adjustments));
}

/** Blocks that messages and tool results both may have. */
function readShown(block: Members, path: JsonPath, adjustments: Adjustments): ShownBlock {
  const mark = readCacheMark(block.cache_control);
  if (block.type === 'text') {
    dropMembers(block, formatPath(path), ['type', 'text', 'cache_control'], adjustments);
    return { kind: 'text', text: block.text as string, ...mark };
  }
  if (block.type === 'document') return { ...readDocument(block, path, adjustments), ...mark };
  if (block.type !== 'image') throw untranslatable(formatPath([...path, 'type']), remedyFor(block.type));
  dropMembers(block, formatPath(path), ['type', 'source', 'cache_control'], adjustments);
  noteOthers(block.source as Members, formatPath([...path, 'source']), IMAGE_SOURCE, adjustments);
  return { kind: 'image', source: readSource(block.source as Members), detail: null, ...mark };
}

function remedyFor(type: unknown): string {
  return TOOL_BLOCKS.includes(type) ? 'offer all tools in `tools`, without `defer_loading`' : 'send its text';
}

const TOOL_BLOCKS: readonly unknown[] = ['tool_reference', 'tool_addition', 'tool_removal'];

const IMAGE_SOURCE: ReadonlySet<string> = new Set(['type', 'media_type', 'data', 'url']);
const DOCUMENT_SOURCE: ReadonlySet<string> = new Set(['type', 'media_type', 'data']);

/** Documents of text have no counterpart on other wires. */
function readDocument(block: Members, path: JsonPath, adjustments: Adjustments): DocumentBlock {
  const { type, media_type: mediaType, data } = block.source as Members;
  if (type !== 'base64') throw untranslatable(formatPath([...path, 'source', 'type']), 'send its text in a text block');
  dropMembers(block, formatPath(path), ['type', 'source', 'title', 'cache_control'], adjustments);
  noteOthers(block.source as Members, formatPath([...path, 'source']), DOCUMENT_SOURCE, adjustments);
  const filename = isText(block.title) ? block.title : null;
  return { kind: 'document', mediaType: String(mediaType ?? 'application/pdf'), base64: String(data), filename };
}

function readSource({ type, url, media_type: mediaType, data }: Members): ImageBlock['source'] {
  if (type === 'url') return { kind: 'url', url: url as string };
  return { kind: 'inline', mediaType: mediaType as string, base64: data as string };
}

/** Other members, such as citations, cannot be translated. Values that ask for nothing are ignored. */
export function dropMembers(holder: Members, path: string, known: readonly string[], adjustments: Adjustments): void {
  for (const name of Object.keys(holder)) {
    if (known.includes(name) || hasNoEffect(name, holder[name])) continue;
    adjustments.dropUnknown(name, holder[name], `${path}.${name}`);
  }
}
