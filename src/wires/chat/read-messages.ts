import type {
  Block,
  CacheMark,
  CanonicalMessage,
  ImageBlock,
  RefusalBlock,
  ShownBlock,
  ToolResultBlock,
} from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { readOwnMark } from '../fields/cache-mark.ts';
import { wrapInput } from '../fields/custom-input.ts';
import { noteUnknownDetail, readImageUrl } from '../fields/image-url.ts';
import { FILE_PART_MEMBERS, readFile } from '../fields/inline-file.ts';
import { isAbsent, isObject, type Members, objectsIn } from '../fields/members.ts';
import { noteOthers } from '../fields/other-members.ts';
import { untranslatable } from '../fields/request-errors.ts';
import { hasLostText, readReasoningDetails } from './reasoning-details.ts';

/** Members of each role's messages that are translated. */
const READ_MEMBERS: ReadonlySet<string> = new Set(['role', 'content', 'cache_control', 'prompt_cache_breakpoint']);
const ASSISTANT_MEMBERS: ReadonlySet<string> = new Set([
  ...READ_MEMBERS,
  ...['refusal', 'reasoning', 'reasoning_content', 'reasoning_details', 'tool_calls', 'function_call'],
]);
/** The name in a tool result repeats the name of its call, which is translated. */
const TOOL_MEMBERS: ReadonlySet<string> = new Set([...READ_MEMBERS, 'tool_call_id', 'name']);

function membersOf(role: unknown): ReadonlySet<string> {
  if (role === 'assistant') return ASSISTANT_MEMBERS;
  return role === 'tool' ? TOOL_MEMBERS : READ_MEMBERS;
}

/** Consecutive tool messages belong to one turn, so they become one user message. */
export function readMessages(messages: readonly Members[], adjustments: Adjustments): CanonicalMessage[] {
  const read: CanonicalMessage[] = [];
  let results: ToolResultBlock[] | null = null;
  // Named once: an agent's request may have many such turns, and only some names fit.
  if (messages.some(isAssistantWithLostText)) adjustments.note('reasoning_details');
  messages.forEach((message, index) => {
    const path = `messages[${index}]`;
    noteOthers(message, path, membersOf(message.role), adjustments);
    if (message.role === 'tool') {
      if (results === null) {
        results = [];
        read.push({ role: 'user', blocks: results });
      }
      results.push(readToolResult(message, path, adjustments));
      return;
    }
    results = null;
    const { role, blocks } = readMessage(message, path, adjustments);
    read.push({ role, blocks: withMark(blocks, readOwnMark(message)) });
  });
  return read;
}

function isAssistantWithLostText(message: Members): boolean {
  return message.role === 'assistant' && hasLostText(message);
}

/** The mark of a whole message is that of its last block, unless that has its own. */
function withMark(blocks: readonly Block[], mark: { cache?: CacheMark }): readonly Block[] {
  if (mark.cache === undefined) return blocks;
  const last = blocks.findLastIndex(({ kind }) => kind !== 'reasoning' && kind !== 'refusal');
  return blocks.map((block, index) => (index === last ? { ...mark, ...block } : block));
}

function readMessage(message: Members, path: string, adjustments: Adjustments): CanonicalMessage {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', blocks: readParts(message.content, `${path}.content`, adjustments) };
    case 'user':
      return { role: 'user', blocks: readParts(message.content, `${path}.content`, adjustments) };
    case 'assistant':
      return { role: 'assistant', blocks: readAssistant(message, path, adjustments) };
    default:
      throw untranslatable(`${path}.role`, 'send tool results with the role "tool"');
  }
}

/** An assistant turn in its original order: reasoning, text, tool calls. */
function readAssistant(message: Members, path: string, adjustments: Adjustments): Block[] {
  if (!isAbsent(message.function_call)) throw untranslatable(`${path}.function_call`, 'send `tool_calls`');
  const blocks: Block[] = [
    ...readReasoningDetails(message),
    ...readParts(message.content, `${path}.content`, adjustments),
  ];
  if (typeof message.refusal === 'string' && message.refusal !== '') {
    blocks.push({ kind: 'refusal', text: message.refusal });
  }
  objectsIn(message.tool_calls).forEach((call, index) => {
    blocks.push(readCall(call, `${path}.tool_calls[${index}]`, adjustments));
  });
  return blocks;
}

const CALL_MEMBERS: ReadonlySet<string> = new Set(['id', 'type', 'index', 'function', 'custom']);
const CALLED_MEMBERS = { function: new Set(['name', 'arguments']), custom: new Set(['name', 'input']) } as const;

function readCall(call: Members, path: string, adjustments: Adjustments): Block {
  noteOthers(call, path, CALL_MEMBERS, adjustments);
  const kind = isObject(call.custom) ? 'custom' : 'function';
  const called = call[kind] as Members;
  noteOthers(called, `${path}.${kind}`, CALLED_MEMBERS[kind], adjustments);
  const words = String(called[kind === 'custom' ? 'input' : 'arguments'] ?? '');
  return {
    kind: 'tool-call',
    id: String(call.id ?? ''),
    name: String(called.name ?? ''),
    argumentsJson: kind === 'custom' ? wrapInput(words) : words,
  };
}

/** A tool cannot refuse, so a refusal in its result is text. */
function readToolResult(message: Members, path: string, adjustments: Adjustments): ToolResultBlock {
  const content = readParts(message.content, `${path}.content`, adjustments).map(asShown);
  const callId = String(message.tool_call_id ?? '');
  return { kind: 'tool-result', callId, content, isError: false, ...readOwnMark(message) };
}

function asShown(block: ContentBlock): ShownBlock {
  return block.kind === 'refusal' ? { kind: 'text', text: block.text } : block;
}

type ContentBlock = ShownBlock | RefusalBlock;

function readParts(content: unknown, path: string, adjustments: Adjustments): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return objectsIn(content).map((part, index) => readPart(part, `${path}[${index}]`, adjustments));
}

const PART_MEMBERS: ReadonlySet<string> = new Set(['type', 'cache_control', 'prompt_cache_breakpoint']);
const TEXT_MEMBERS: ReadonlySet<string> = new Set([...PART_MEMBERS, 'text']);
const REFUSAL_MEMBERS: ReadonlySet<string> = new Set([...PART_MEMBERS, 'refusal']);
const IMAGE_MEMBERS: ReadonlySet<string> = new Set([...PART_MEMBERS, 'image_url']);
const FILE_MEMBERS: ReadonlySet<string> = new Set([...PART_MEMBERS, 'file']);

function readPart(part: Members, path: string, adjustments: Adjustments): ContentBlock {
  const cache = readOwnMark(part);
  switch (part.type) {
    case 'image_url':
      noteOthers(part, path, IMAGE_MEMBERS, adjustments);
      return { ...readImage(part.image_url, `${path}.image_url`, adjustments), ...cache };
    case 'file':
      noteOthers(part, path, FILE_MEMBERS, adjustments);
      noteOthers(part.file as Members, `${path}.file`, FILE_PART_MEMBERS, adjustments);
      return { ...readFile(part.file as Members), ...cache };
    case 'refusal':
      noteOthers(part, path, REFUSAL_MEMBERS, adjustments);
      return { kind: 'refusal', text: String(part.refusal) };
    default:
      noteOthers(part, path, TEXT_MEMBERS, adjustments);
      return { kind: 'text', text: String(part.text), ...cache };
  }
}

const ADDRESS_MEMBERS: ReadonlySet<string> = new Set(['url', 'detail']);

function readImage(image: unknown, path: string, adjustments: Adjustments): ImageBlock {
  if (!isObject(image)) return readImageUrl(String(image), null, `${path}.url`);
  noteOthers(image, path, ADDRESS_MEMBERS, adjustments);
  noteUnknownDetail(image.detail, `${path}.detail`, adjustments);
  return readImageUrl(String(image.url), image.detail, `${path}.url`);
}
