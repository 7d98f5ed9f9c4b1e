import type {
  Block,
  CanonicalMessage,
  ReasoningBlock,
  RefusalBlock,
  Role,
  ShownBlock,
  ToolResultBlock,
} from '../../canonical/request.ts';
import { readImageUrl } from '../fields/image-url.ts';
import { readFile } from '../fields/inline-file.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import { untranslatable } from '../fields/request-errors.ts';
import { readOpaque } from './encrypted-reasoning.ts';
import { flattenItem } from './flatten-tools.ts';
import { itemType } from './measure.ts';
import type { ToolNames } from './tool-names.ts';

/** A message that is being built from its items. */
interface Gathering {
  readonly role: Role;
  readonly blocks: Block[];
  /** The message holds tool results; the user's next text is another message. */
  readonly hasResults: boolean;
}

/**
 * Reads items into messages. Consecutive reasoning, text and calls of the assistant form one message, and so do
 * consecutive tool results.
 */
export function readItems(input: string | readonly unknown[], names: ToolNames): CanonicalMessage[] {
  if (typeof input === 'string') return [{ role: 'user', blocks: [{ kind: 'text', text: input }] }];
  const messages: Gathering[] = [];
  input.forEach((item, index) => {
    if (!isObject(item)) return;
    for (const flat of flattenItem(item, names)) readItem(flat, `input[${index}]`, messages);
  });
  return messages.filter(({ blocks }) => blocks.length > 0).map(({ role, blocks }) => ({ role, blocks }));
}

function readItem(item: Members, path: string, messages: Gathering[]): void {
  switch (itemType(item)) {
    case 'message':
      readMessage(item, path, messages);
      return;
    case 'reasoning':
      assistant(messages).push(...readReasoningItem(item));
      return;
    case 'function_call':
      assistant(messages).push({
        kind: 'tool-call',
        id: item.call_id as string,
        name: item.name as string,
        argumentsJson: item.arguments as string,
      });
      return;
    case 'function_call_output':
      results(messages).push(readResult(item, path));
      return;
    default:
      throw untranslatable(`${path}.type`, 'use function tools');
  }
}

function readMessage(item: Members, path: string, messages: Gathering[]): void {
  const blocks = readContent(item.content, `${path}.content`);
  if (item.role === 'assistant') {
    assistant(messages).push(...blocks);
    return;
  }
  const role: Role = item.role === 'user' ? 'user' : 'system';
  messages.push({ role, blocks, hasResults: false });
}

function assistant(messages: Gathering[]): Block[] {
  const last = messages.at(-1);
  if (last?.role === 'assistant') return last.blocks;
  const blocks: Block[] = [];
  messages.push({ role: 'assistant', blocks, hasResults: false });
  return blocks;
}

function results(messages: Gathering[]): Block[] {
  const last = messages.at(-1);
  if (last?.hasResults) return last.blocks;
  const blocks: Block[] = [];
  messages.push({ role: 'user', blocks, hasResults: true });
  return blocks;
}

/** A tool cannot refuse, so a refusal in its result is text. */
function asShown(block: ContentBlock): ShownBlock {
  return block.kind === 'refusal' ? { kind: 'text', text: block.text } : block;
}

type ContentBlock = ShownBlock | RefusalBlock;

function readContent(content: unknown, path: string): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return objectsIn(content).map((part, index) => readPart(part, `${path}[${index}]`));
}

function readPart(part: Members, path: string): ContentBlock {
  if (part.type === 'refusal') return { kind: 'refusal', text: part.refusal as string };
  const mark = isObject(part.prompt_cache_breakpoint) ? { cache: { lifetime: null } } : {};
  if (part.type === 'input_file') return { ...readFile(part), ...mark };
  if (part.type !== 'input_image') return { kind: 'text', text: part.text as string, ...mark };
  return { ...readImageUrl(part.image_url as string, part.detail, `${path}.image_url`), ...mark };
}

function readResult(item: Members, path: string): ToolResultBlock {
  const content = readContent(item.output, `${path}.output`).map(asShown);
  return { kind: 'tool-result', callId: item.call_id as string, content, isError: false };
}

/** Reasoning text and its opaque part; an item with neither is dropped. */
function readReasoningItem(item: Members): ReasoningBlock[] {
  const text = reasoningText(item);
  const opaque = readOpaque(item);
  return text === '' && opaque === null ? [] : [{ kind: 'reasoning', text, opaque }];
}

/** Joins the parts of the summary as paragraphs; without a summary the raw reasoning is used. */
function reasoningText(item: Members): string {
  const summary = objectsIn(item.summary);
  const parts = summary.length > 0 ? summary : objectsIn(item.content);
  return parts.map(({ text }) => (typeof text === 'string' ? text : '')).join(PARAGRAPH);
}

export const PARAGRAPH = '\n\n';
