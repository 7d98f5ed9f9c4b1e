import type { JsonEdit } from '../../json/json.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { functionForm, wrapInput } from './custom-input.ts';
import { ToolNames } from './tool-names.ts';

/** How a host gets tools. */
export interface ToolTerms {
  readonly names: ToolNames;
  /** The host knows custom tools; other hosts get them as functions. */
  readonly takesCustom: boolean;
}

/** Edits the caller's tools, tool choice and earlier calls for a host of this wire. */
export function editTools(body: Members, edit: JsonEdit, takesCustom: boolean): void {
  const terms = { names: new ToolNames(body.tools), takesCustom };
  if (Array.isArray(body.tools)) editList(body.tools, ['tools'], edit, (tool) => flattenTool(tool, terms));
  if (Array.isArray(body.input)) editList(body.input, ['input'], edit, (item) => [flattenItem(item, terms)]);
  const { tool_choice: choice } = body;
  const flat = isObject(choice) ? flattenChoice(choice, terms) : choice;
  if (flat !== choice) edit.set(['tool_choice'], JSON.stringify(flat));
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

/** The functions and custom tools of one tool, in order; the tool itself if nothing changes. */
export function flattenTool(tool: Members, terms: ToolTerms): readonly Members[] {
  if (tool.type !== 'namespace') return [inHostsForm(tool, terms)];
  return objectsIn(tool.tools).map((member, index) => {
    const { defer_loading: _, ...offered } = member;
    const name = terms.names.flatten(tool.name, String(member.name));
    const about = index === 0 ? aboutGroup(tool) : null;
    const description = [member.description, about].filter(isText).join('\n\n');
    return inHostsForm({ ...offered, name, ...(description !== '' && { description }) }, terms);
  });
}

/** The description of a namespace, told once with its first function. */
function aboutGroup({ name, description }: Members): string | null {
  return isText(description) ? `About all tools named ${String(name)}__*: ${description}` : null;
}

function inHostsForm(tool: Members, { takesCustom }: ToolTerms): Members {
  return tool.type === 'custom' && !takesCustom ? functionForm(tool) : tool;
}

/** A call or result of an earlier turn; the item itself if nothing changes. */
export function flattenItem(item: Members, terms: ToolTerms): Members {
  switch (item.type) {
    case 'function_call':
      return withFlatName(item, terms);
    case 'custom_tool_call': {
      const named = withFlatName(item, terms);
      if (terms.takesCustom) return named;
      const { call_id, name, input } = named;
      return { type: 'function_call', call_id, name, arguments: wrapInput(String(input ?? '')) };
    }
    case 'custom_tool_call_output': {
      if (terms.takesCustom) return item;
      const { id: _, ...rest } = item;
      return { ...rest, type: 'function_call_output' };
    }
    default:
      return item;
  }
}

function withFlatName(item: Members, { names }: ToolTerms): Members {
  if (item.namespace === undefined) return item;
  const { namespace, ...rest } = item;
  return { ...rest, name: names.flatten(namespace, String(item.name)) };
}

/** A choice of one tool, or of several; the choice itself if nothing changes. */
export function flattenChoice(choice: Members, terms: ToolTerms): Members {
  if (choice.type !== 'allowed_tools') return flattenChosen(choice, terms);
  const tools = objectsIn(choice.tools);
  const flat = tools.map((tool) => flattenChosen(tool, terms));
  return flat.every((tool, index) => tool === tools[index]) ? choice : { ...choice, tools: flat };
}

function flattenChosen(chosen: Members, { names, takesCustom }: ToolTerms): Members {
  if (chosen.type !== 'function' && chosen.type !== 'custom') return chosen;
  const { namespace, ...rest } = chosen;
  const name = isText(namespace)
    ? names.flatten(namespace, String(chosen.name))
    : names.flattenBare(String(chosen.name));
  const type = takesCustom ? chosen.type : 'function';
  return name === chosen.name && type === chosen.type && namespace === undefined ? chosen : { ...rest, type, name };
}
