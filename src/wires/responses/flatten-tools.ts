import type { JsonEdit, JsonText } from '../../json/json.ts';
import { functionForm, wrapInput } from '../fields/custom-input.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { addedTools, addsTools, offeredTools, SEARCH_NAME, ToolNames } from './tool-names.ts';

/**
 * The request, with the exact digits of numbers in the members that are rewritten: tools, and items that add tools or call
 * the search.
 */
export function exactTools(text: JsonText): Members {
  const body = text.value as Members;
  const isRewritten = objectsIn(body.input).some((item) => addsTools(item) || item.type === 'tool_search_call');
  return { ...body, tools: text.exactMember('tools'), ...(isRewritten && { input: text.exactMember('input') }) };
}

/** Edits the caller's tools, tool choice and earlier calls for a host of this wire that knows only functions. */
export function editTools(text: JsonText, edit: JsonEdit): void {
  const body = exactTools(text);
  const names = new ToolNames(offeredTools(body));
  editOffered(body, edit, names);
  if (Array.isArray(body.input)) editList(body.input, ['input'], edit, (item) => flattenItem(item, names));
  const { tool_choice: choice } = body;
  const flat = isObject(choice) ? flattenChoice(choice, names) : choice;
  if (flat !== choice) edit.set(['tool_choice'], JSON.stringify(flat));
}

/** Tools that items add follow those of the request. */
function editOffered({ tools, input }: Members, edit: JsonEdit, names: ToolNames): void {
  if (Array.isArray(tools)) editList(tools, ['tools'], edit, (tool) => flattenTool(tool, names));
  const own = objectsIn(tools).flatMap((tool) => flattenTool(tool, names));
  const added = flattenAdded(input, own, names);
  if (added.length === 0) return;
  const json = added.map((tool) => JSON.stringify(tool)).join(',');
  if (Array.isArray(tools)) edit.set(['tools', tools.length], json);
  else edit.set(['tools'], `[${json}]`);
}

type Flatten = (one: Members) => readonly Members[];

/** Replaces only the elements that change; the others keep the caller's bytes. */
function editList(list: readonly unknown[], path: readonly [string], edit: JsonEdit, flatten: Flatten): void {
  list.forEach((one, index) => {
    if (!isObject(one)) return;
    const flat = flatten(one);
    if (flat.length === 1 && flat[0] === one) return;
    if (flat.length === 0) edit.remove([...path, index]);
    else edit.set([...path, index], flat.map((each) => JSON.stringify(each)).join(','));
  });
}

/** All tools of a request as functions. */
export function flattenTools({ tools, input }: Members, names: ToolNames): Members[] {
  const own = objectsIn(tools).flatMap((tool) => flattenTool(tool, names));
  return [...own, ...flattenAdded(input, own, names)];
}

/** A tool search may find the same tool again; hosts refuse two functions with one name. */
function flattenAdded(input: unknown, own: readonly Members[], names: ToolNames): Members[] {
  const seen = new Set(own.map(({ name }) => name));
  return addedTools(input)
    .flatMap((tool) => flattenTool(tool, names))
    .filter(({ name }) => !seen.has(name) && seen.add(name));
}

/** The functions of one tool, in order; the tool itself if nothing changes. */
function flattenTool(tool: Members, names: ToolNames): readonly Members[] {
  if (tool.type !== 'namespace') return [inFunctionForm(tool)];
  return objectsIn(tool.tools).map((member, index) => {
    const { defer_loading: _, ...offered } = member;
    const name = names.flatten(tool.name, String(member.name));
    const about = index === 0 ? aboutGroup(tool) : null;
    const description = [member.description, about].filter(isText).join('\n\n');
    return inFunctionForm({ ...offered, name, ...(description !== '' && { description }) });
  });
}

/** The description of a namespace, added once, to its first function. */
function aboutGroup({ name, description }: Members): string | null {
  return isText(description) ? `About all tools named ${String(name)}__*: ${description}` : null;
}

function inFunctionForm(tool: Members): Members {
  if (tool.type === 'custom') return functionForm(tool);
  if (tool.type !== 'tool_search') return tool;
  const { description, parameters } = tool;
  return { type: 'function', name: SEARCH_NAME, description, parameters, strict: false };
}

/** A call or result of an earlier turn as hosts get it; the item itself if nothing changes. */
export function flattenItem(item: Members, names: ToolNames): readonly Members[] {
  const { call_id } = item;
  switch (item.type) {
    case 'additional_tools':
      return [];
    case 'function_call':
      return [withFlatName(item, names)];
    case 'custom_tool_call': {
      const { name } = withFlatName(item, names);
      return [{ type: 'function_call', call_id, name, arguments: wrapInput(String(item.input ?? '')) }];
    }
    case 'tool_search_call':
      return [{ type: 'function_call', call_id, name: SEARCH_NAME, arguments: JSON.stringify(item.arguments) }];
    case 'tool_search_output':
      return [{ type: 'function_call_output', call_id, output: describeFound(item, names) }];
    case 'custom_tool_call_output': {
      const { id: _, ...rest } = item;
      return [{ ...rest, type: 'function_call_output' }];
    }
    default:
      return [item];
  }
}

/** The result of a tool search; the tools themselves are offered with the others. */
function describeFound({ tools }: Members, names: ToolNames): string {
  const found = objectsIn(tools).flatMap((tool) => flattenTool(tool, names).map(({ name }) => String(name)));
  return found.length === 0 ? 'No tools were found.' : `These tools can be called now: ${found.join(', ')}`;
}

function withFlatName(item: Members, names: ToolNames): Members {
  if (item.namespace === undefined) return item;
  const { namespace, ...rest } = item;
  return { ...rest, name: names.flatten(namespace, String(item.name)) };
}

/** A choice of one tool, or of several; the choice itself if nothing changes. */
export function flattenChoice(choice: Members, names: ToolNames): Members {
  if (choice.type !== 'allowed_tools') return flattenChosen(choice, names);
  const tools = objectsIn(choice.tools);
  const flat = tools.map((tool) => flattenChosen(tool, names));
  return flat.every((tool, index) => tool === tools[index]) ? choice : { ...choice, tools: flat };
}

function flattenChosen(chosen: Members, names: ToolNames): Members {
  if (chosen.type !== 'function' && chosen.type !== 'custom') return chosen;
  const { namespace, ...rest } = chosen;
  const name = isText(namespace)
    ? names.flatten(namespace, String(chosen.name))
    : names.flattenBare(String(chosen.name));
  const isSame = name === chosen.name && chosen.type === 'function' && namespace === undefined;
  return isSame ? chosen : { ...rest, type: 'function', name };
}
