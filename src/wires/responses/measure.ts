import { checkBreakpoint } from '../fields/cache-options.ts';
import { readString } from '../fields/field-checks.ts';
import { FILE_MEMBERS, visitFile } from '../fields/inline-file.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { type PromptVisitor, visitRest, visitUnknown } from '../fields/prompt-visitor.ts';
import { NOTHING_STORED } from '../fields/refused-fields.ts';
import { missing, mustBe, unsupported } from '../fields/request-errors.ts';
import { visitToolImage } from '../fields/tool-images.ts';
import { checkTools } from './check-tools.ts';

/** Walks the whole input; throws for content that no host can read or that has no price. Returns the number of items. */
export function visitInput(input: unknown, visitor: PromptVisitor): number {
  if (isAbsent(input)) throw missing('input', '`input` is missing; send a string or a list of items.');
  if (typeof input === 'string') {
    visitor.text(input);
    return 1;
  }
  if (!Array.isArray(input) || input.length === 0) throw mustBe('input', 'a string or a list of at least one item');
  for (let index = 0; index < input.length; index++) visitItem(input[index], `input[${index}]`, visitor);
  return input.length;
}

/** How each member of an item is measured; all bytes of other members count. */
interface ItemKind {
  readonly text?: readonly string[];
  readonly toolText?: readonly string[];
  readonly lists?: Readonly<Record<string, PartTable>>;
  /** Members that are not part of the prompt. */
  readonly free: readonly string[];
  /** The item offers tools. */
  readonly offers?: true;
}

type PartTable = Readonly<Record<string, (part: Members, path: string, visitor: PromptVisitor) => void>>;

/** Part types of messages and tool outputs. */
const CONTENT_PARTS: PartTable = {
  input_text: (part, path, visitor) => visitor.text(readString(part.text, `${path}.text`)),
  output_text: (part, path, visitor) => visitor.text(readString(part.text, `${path}.text`)),
  refusal: (part, path, visitor) => visitor.text(readString(part.refusal, `${path}.refusal`)),
  input_image: visitImage,
  input_file: visitFile,
};

const OUTPUT_PARTS: PartTable = {
  ...CONTENT_PARTS,
  input_image(part, path, visitor) {
    visitImage(part, path, visitor);
    visitToolImage(visitor);
  },
};

/** Lists that may also be a string. */
const TEXT_TABLES: readonly PartTable[] = [CONTENT_PARTS, OUTPUT_PARTS];

const SUMMARY_PARTS: PartTable = {
  summary_text: (part, path, visitor) => visitor.text(readString(part.text, `${path}.text`)),
};

const TRACE_PARTS: PartTable = {
  reasoning_text: (part, path, visitor) => visitor.text(readString(part.text, `${path}.text`)),
};

const ITEM_KINDS: Readonly<Record<string, ItemKind>> = {
  message: { lists: { content: CONTENT_PARTS }, free: ['id', 'role', 'status', 'phase'] },
  reasoning: {
    text: ['encrypted_content'],
    lists: { summary: SUMMARY_PARTS, content: TRACE_PARTS },
    free: ['id', 'status'],
  },
  function_call: { text: ['call_id'], toolText: ['namespace', 'name', 'arguments'], free: ['id', 'status'] },
  function_call_output: { text: ['call_id'], lists: { output: OUTPUT_PARTS }, free: ['id', 'status'] },
  custom_tool_call: { text: ['call_id'], toolText: ['namespace', 'name', 'input'], free: ['id', 'status'] },
  additional_tools: { free: ['id', 'role'], offers: true },
  tool_search_call: { text: ['call_id'], free: ['id', 'status', 'execution'] },
  tool_search_output: { text: ['call_id'], free: ['id', 'status', 'execution'], offers: true },
  custom_tool_call_output: { text: ['call_id'], lists: { output: OUTPUT_PARTS }, free: ['id', 'status'] },
};

const ROLES = ['user', 'assistant', 'system', 'developer'];

/** An item without a type is a message. */
export function itemType(item: Members): unknown {
  return item.type ?? 'message';
}

function visitItem(item: unknown, path: string, visitor: PromptVisitor): void {
  if (!isObject(item)) throw mustBe(path, 'an object');
  const type = itemType(item);
  const kind = typeof type === 'string' && Object.hasOwn(ITEM_KINDS, type) ? ITEM_KINDS[type]! : null;
  if (kind === null) throw refusedItem(type, `${path}.type`);
  if (type === 'message' && !ROLES.includes(item.role as string)) {
    throw mustBe(`${path}.role`, `one of ${ROLES.join(', ')}`);
  }
  requireMembers(type as string, item, path);
  checkBreakpoint(item, path);
  if (kind.toolText !== undefined) visitor.part();
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== null && name !== 'type') visitMember(kind, name, value, `${path}.${name}`, visitor);
  }
}

const REQUIRED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  message: ['content'],
  function_call: ['call_id', 'name', 'arguments'],
  function_call_output: ['call_id', 'output'],
  custom_tool_call: ['call_id', 'name', 'input'],
  custom_tool_call_output: ['call_id', 'output'],
  additional_tools: ['tools'],
  tool_search_call: ['call_id', 'arguments'],
  tool_search_output: ['call_id', 'tools'],
};

function requireMembers(type: string, item: Members, path: string): void {
  for (const name of REQUIRED_MEMBERS[type] ?? []) {
    if (isAbsent(item[name])) throw missing(`${path}.${name}`, `\`${path}.${name}\` is missing.`);
  }
}

function refusedItem(type: unknown, path: string): Error {
  if (typeof type !== 'string') return mustBe(path, `one of ${Object.keys(ITEM_KINDS).join(', ')}`);
  if (type === 'item_reference')
    return unsupported(path, `\`${path}\` "item_reference" is not supported: ${NOTHING_STORED}.`);
  const named = JSON.stringify(type.slice(0, 60));
  return unsupported(
    path,
    `\`${path}\` ${named} has no price here; items may be ${Object.keys(ITEM_KINDS).join(', ')}.`,
  );
}

function visitMember(kind: ItemKind, name: string, value: unknown, path: string, visitor: PromptVisitor): void {
  if (kind.free.includes(name)) return;
  if (name === 'tools' && kind.offers) {
    visitor.tools(checkTools(value, visitor, path));
    visitor.toolText(JSON.stringify(value));
    return;
  }
  const parts = kind.lists?.[name];
  if (parts !== undefined) visitContent(value, path, parts, visitor);
  else if (kind.text?.includes(name)) visitor.text(readString(value, path));
  else if (kind.toolText?.includes(name)) visitor.toolText(readString(value, path));
  else visitUnknown(value, visitor);
}

/** Messages and tool outputs may be a string; summaries and reasoning must be lists. */
function visitContent(content: unknown, path: string, table: PartTable, visitor: PromptVisitor): void {
  if (typeof content === 'string' && TEXT_TABLES.includes(table)) {
    visitor.text(content);
    return;
  }
  if (!Array.isArray(content)) {
    throw mustBe(path, TEXT_TABLES.includes(table) ? 'a string or a list of parts' : 'a list of parts');
  }
  for (let index = 0; index < content.length; index++) visitPart(content[index], `${path}[${index}]`, table, visitor);
}

function visitPart(part: unknown, path: string, table: PartTable, visitor: PromptVisitor): void {
  if (!isObject(part)) throw mustBe(path, 'an object with a type');
  const { type } = part;
  if (typeof type !== 'string') throw mustBe(`${path}.type`, `one of ${Object.keys(table).join(', ')}`);
  if (!Object.hasOwn(table, type)) throw refusedPart(type, `${path}.type`, table);
  visitor.part();
  table[type]!(part, path, visitor);
  checkBreakpoint(part, path);
  visitRest(part, PART_MEMBERS[type] ?? TEXT_MEMBERS, visitor);
}

/** Members that are already measured, or that no model reads; the bytes of an image do not count. */
const TEXT_MEMBERS = new Set(['type', 'text', 'prompt_cache_breakpoint']);
const PART_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  output_text: new Set([...TEXT_MEMBERS, 'logprobs']),
  refusal: new Set(['type', 'refusal', 'prompt_cache_breakpoint']),
  input_image: new Set(['type', 'image_url', 'detail', 'prompt_cache_breakpoint']),
  input_file: new Set(['type', 'prompt_cache_breakpoint', ...FILE_MEMBERS]),
};

function refusedPart(type: string, path: string, table: PartTable): Error {
  const named = JSON.stringify(type.slice(0, 60));
  return unsupported(path, `\`${path}\` ${named} has no price here; send ${Object.keys(table).join(', ')} parts.`);
}

/** Other data would be a document, and the price of an image does not cover its pages. */
const IMAGE_ADDRESS = /^(?:https?:\/\/|data:image\/)/i;

function visitImage(part: Members, path: string, visitor: PromptVisitor): void {
  if (!isAbsent(part.file_id)) {
    throw unsupported(`${path}.file_id`, `\`${path}.file_id\`: files are not stored here; send the image itself.`);
  }
  const url = part.image_url;
  if (typeof url !== 'string' || !IMAGE_ADDRESS.test(url)) {
    throw mustBe(`${path}.image_url`, 'an https: address or a data: URL of an image');
  }
  visitor.image(path);
}
