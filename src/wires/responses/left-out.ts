import type { JsonText } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import { isFreeText } from '../fields/custom-input.ts';
import { noteUnknownDetail } from '../fields/image-url.ts';
import { FILE_PART_MEMBERS } from '../fields/inline-file.ts';
import { noteWithheldEffort } from '../fields/lost-effort.ts';
import { type Members, objectsIn } from '../fields/members.ts';
import { noteOthers, optionalFlag, optionalText } from '../fields/other-members.ts';
import type { UpstreamTerms } from '../wire.ts';
import { itemType } from './measure.ts';
import { addsTools } from './tool-names.ts';

/** By the caller's `type`, so not an object: `constructor` must not be found in it. */
type MemberNames = ReadonlyMap<unknown, ReadonlySet<string>>;

function membersOf(...names: readonly string[]): ReadonlySet<string> {
  return new Set(['type', 'id', 'status', ...names]);
}

/** Members of items that are translated, or that no model reads, such as ids. */
const ITEM_MEMBERS: MemberNames = new Map([
  ['message', membersOf('role', 'phase', 'content')],
  ['reasoning', membersOf('summary', 'content', 'encrypted_content')],
  ['function_call', membersOf('call_id', 'namespace', 'name', 'arguments')],
  // The name in a result repeats the name of its call, which is translated.
  ['function_call_output', membersOf('call_id', 'name', 'output')],
  ['custom_tool_call', membersOf('call_id', 'namespace', 'name', 'input')],
  ['custom_tool_call_output', membersOf('call_id', 'name', 'output')],
  ['additional_tools', membersOf('role', 'tools')],
  ['tool_search_call', membersOf('call_id', 'execution', 'arguments')],
  ['tool_search_output', membersOf('call_id', 'execution', 'tools')],
]);

/** A mark for the cache is only a hint, and log probabilities repeat the words. */
const TEXT_MEMBERS = new Set(['type', 'text', 'prompt_cache_breakpoint', 'logprobs']);
const PART_MEMBERS: MemberNames = new Map([
  ['refusal', new Set(['type', 'refusal', 'prompt_cache_breakpoint'])],
  ['input_image', new Set(['type', 'image_url', 'detail', 'prompt_cache_breakpoint'])],
  ['input_file', new Set(['type', 'prompt_cache_breakpoint', ...FILE_PART_MEMBERS])],
]);

/** Names the members of items and of their parts that are not translated. */
export function noteItems(input: readonly unknown[], adjustments: Adjustments): void {
  objectsIn(input).forEach((item, index) => {
    const path = `input[${index}]`;
    noteOthers(item, path, ITEM_MEMBERS.get(itemType(item)) ?? TEXT_MEMBERS, adjustments);
    for (const list of ['content', 'output']) {
      objectsIn(item[list]).forEach((part, at) => {
        notePart(part, `${path}.${list}[${at}]`, adjustments);
      });
    }
    noteTools(item.tools, `${path}.tools`, adjustments);
  });
}

function notePart(part: Members, path: string, adjustments: Adjustments): void {
  noteOthers(part, path, PART_MEMBERS.get(part.type) ?? TEXT_MEMBERS, adjustments);
  if (part.type === 'input_image') noteUnknownDetail(part.detail, `${path}.detail`, adjustments);
}

/** Members of tools that are translated; deferred tools are offered at once. */
const FUNCTION_MEMBERS = new Set(['type', 'name', 'description', 'parameters', 'strict', 'defer_loading']);
const TOOL_MEMBERS: MemberNames = new Map([
  ['custom', new Set(['type', 'name', 'description', 'format', 'defer_loading'])],
  ['namespace', new Set(['type', 'name', 'description', 'tools'])],
  ['tool_search', new Set(['type', 'execution', 'description', 'parameters'])],
]);

/** The same for tools; their texts and flags must have the right type, or they would get lost. */
export function noteTools(tools: unknown, path: string, adjustments: Adjustments): void {
  objectsIn(tools).forEach((tool, index) => {
    const at = `${path}[${index}]`;
    noteOthers(tool, at, TOOL_MEMBERS.get(tool.type) ?? FUNCTION_MEMBERS, adjustments);
    optionalText(tool.description, `${at}.description`);
    optionalFlag(tool.strict, `${at}.strict`);
    noteFormat(tool, at, adjustments);
    noteTools(tool.tools, `${at}.tools`, adjustments);
  });
}

/** A host that gets a custom tool as a function reads its grammar, but does not enforce it. */
function noteFormat({ type, format }: Members, path: string, adjustments: Adjustments): void {
  if (type === 'custom' && !isFreeText(format)) adjustments.note(`${path}.format`);
}

/** Items that a host which knows only functions gets in another form; others reach it as the caller wrote them. */
const FLATTENED_ITEMS: ReadonlySet<unknown> = new Set(['custom_tool_call', 'tool_search_call', 'tool_search_output']);

/** Names what a host of this wire does not get. */
export function noteLeftOut(text: JsonText, terms: UpstreamTerms, adjustments: Adjustments): void {
  noteFlattened(text, terms, adjustments);
  noteWithheldEffort(text, terms, adjustments);
}

/** Names what a host of this wire that knows only functions does not get of tools and items. */
export function noteFlattened(
  text: JsonText,
  { quirks }: Pick<UpstreamTerms, 'quirks'>,
  adjustments: Adjustments,
): void {
  if (quirks?.clientTools === true) return;
  const { tools, input } = text.value as Members;
  noteFlattenedTools(tools, 'tools', adjustments);
  objectsIn(input).forEach((item, index) => {
    const path = `input[${index}]`;
    if (FLATTENED_ITEMS.has(item.type)) noteOthers(item, path, ITEM_MEMBERS.get(item.type)!, adjustments);
    if (addsTools(item)) noteFlattenedTools(item.tools, `${path}.tools`, adjustments);
  });
}

function noteFlattenedTools(tools: unknown, path: string, adjustments: Adjustments): void {
  objectsIn(tools).forEach((tool, index) => {
    const at = `${path}[${index}]`;
    const known = TOOL_MEMBERS.get(tool.type);
    if (known === undefined) return;
    noteOthers(tool, at, known, adjustments);
    noteFormat(tool, at, adjustments);
    if (tool.type === 'namespace') noteFlattenedTools(tool.tools, `${at}.tools`, adjustments);
  });
}
