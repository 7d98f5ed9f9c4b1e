import type { CanonicalTool } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { readCacheMark } from '../fields/cache-mark.ts';
import { functionForm, isFreeText } from '../fields/custom-input.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { noteOthers, optionalText } from '../fields/other-members.ts';
import { mustBe } from '../fields/request-errors.ts';

const TOOL_MEMBERS: ReadonlySet<string> = new Set(['type', 'custom', 'cache_control']);
const CUSTOM_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'format']);

/** A tool that takes free text is a function for hosts of other wires. They only describe its grammar, which is named. */
export function readCustomTool(tool: Members, path: string, adjustments: Adjustments): CanonicalTool {
  const at = `${path}.custom`;
  const custom = tool.custom as Members;
  noteOthers(tool, path, TOOL_MEMBERS, adjustments);
  noteOthers(custom, at, CUSTOM_MEMBERS, adjustments);
  const grammar = readGrammar(custom.format, `${at}.format.grammar`);
  if (!isFreeText(custom.format)) adjustments.note(`${at}.format`);
  const told = optionalText(custom.description, `${at}.description`);
  const { description, parameters } = functionForm({ description: told, format: grammar });
  return {
    name: String(custom.name),
    description: isText(description) ? description : null,
    schema: parameters as Members,
    strict: null,
    ...readCacheMark(tool.cache_control),
  };
}

function readGrammar(format: unknown, path: string): Members | null {
  if (!isObject(format) || format.type !== 'grammar') return null;
  if (!isObject(format.grammar)) throw mustBe(path, 'an object');
  const { syntax, definition } = format.grammar;
  if (!isText(syntax)) throw mustBe(`${path}.syntax`, 'a string');
  if (!isText(definition)) throw mustBe(`${path}.definition`, 'a string');
  return { type: 'grammar', syntax, definition };
}

/** The names of the caller's custom tools. */
export function customNames(request: unknown): ReadonlySet<unknown> {
  const tools = isObject(request) ? objectsIn(request.tools) : [];
  return new Set(tools.filter(({ type }) => type === 'custom').map(({ custom }) => (custom as Members).name));
}
