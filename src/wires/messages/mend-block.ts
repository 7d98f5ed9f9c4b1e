import { tryParseExact, tryParseJson } from '../../json/json.ts';
import { extraBytes } from '../fields/extra-bytes.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';

/** Content that a host put into the head of a block instead of its deltas. */
interface MendedHead {
  readonly changed: boolean;
  /** The complete input of a tool call. */
  readonly inputJson: string;
}

/** Repairs the head of a block in place. */
export function mendBlockHead(block: Members, mintId: () => string): MendedHead {
  switch (block.type) {
    case 'text':
      return { changed: fill(block, 'text', ''), inputJson: '' };
    case 'thinking': {
      const changed = fill(block, 'thinking', '');
      return { changed: fill(block, 'signature', '') || changed, inputJson: '' };
    }
    case 'tool_use':
      return mendToolUseHead(block, mintId);
    default:
      return { changed: false, inputJson: '' };
  }
}

function mendToolUseHead(block: Members, mintId: () => string): MendedHead {
  const minted = mendToolId(block, mintId);
  const inputJson = wholeInput(block.input);
  if (isObject(block.input) && inputJson === '') return { changed: minted, inputJson };
  block.input = {};
  return { changed: true, inputJson };
}

/** The event of a block that begins. If it has the whole input of a call, it is parsed with every digit of its numbers. */
export function exactBlockStart(event: Members, data: string): Members {
  const { content_block: block } = event;
  const hasInput = isObject(block) && isObject(block.input) && wholeInput(block.input) !== '';
  return hasInput ? (tryParseExact(data) as Members) : event;
}

/** Clients read the input from deltas only, so a complete input becomes a delta. */
export function wholeInput(input: unknown): string {
  if (typeof input === 'string') return input;
  return isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
}

function mendToolId(block: Members, mintId: () => string): boolean {
  if (typeof block.id === 'string' && block.id !== '') return false;
  block.id = mintId();
  return true;
}

function fill(holder: Members, name: string, value: string): boolean {
  if (typeof holder[name] === 'string') return false;
  holder[name] = value;
  return true;
}

/** Repairs a block of a buffered response in place; true if anything changed. */
export function mendWholeBlock(block: Members, mintId: () => string): boolean {
  if (block.type !== 'tool_use') return mendBlockHead(block, mintId).changed;
  const minted = mendToolId(block, mintId);
  if (isObject(block.input)) return minted;
  const parsed = typeof block.input === 'string' ? tryParseJson(block.input) : null;
  if (isObject(parsed)) block.input = parsed;
  else if (isAbsent(block.input) || block.input === '') block.input = {};
  else return minted;
  return true;
}

const OF_BLOCK = new Set(['type', 'id', 'text', 'thinking', 'input', 'signature']);
const OF_DELTA = new Set(['type', 'text', 'thinking', 'partial_json', 'signature']);

/** UTF-8 bytes of the content of a block: what the model wrote, and members that this wire does not know. */
export function blockBytes(block: Members): number {
  const input = wholeInput(block.input);
  return textBytes(block.text) + textBytes(block.thinking) + Buffer.byteLength(input) + extraBytes(block, OF_BLOCK);
}

export function deltaBytes(delta: Members): number {
  const words = textBytes(delta.text) + textBytes(delta.thinking) + textBytes(delta.partial_json);
  return words + extraBytes(delta, OF_DELTA);
}

function textBytes(value: unknown): number {
  return typeof value === 'string' ? Buffer.byteLength(value) : 0;
}
