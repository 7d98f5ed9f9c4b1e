import type { CanonicalTool, ToolChoice } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { isObject, isText } from '../fields/members.ts';
import { noteOthers } from '../fields/other-members.ts';
import { mustBe, untranslatable } from '../fields/request-errors.ts';
import { isEmpty } from '../fields/without-effect.ts';

/** The tools that a request offers, and which of them the model may or must call. */
interface OfferedTools {
  readonly tools: readonly CanonicalTool[];
  readonly toolChoice: ToolChoice | null;
}

/** Allowing some tools is translated by offering only those. */
export function readToolChoice(
  choice: unknown,
  tools: readonly CanonicalTool[],
  adjustments: Adjustments,
): OfferedTools {
  if (!isObject(choice) || choice.type !== 'allowed_tools')
    return { tools, toolChoice: readChosen(choice, adjustments) };
  noteOthers(choice, 'tool_choice', ALLOWING_MEMBERS, adjustments);
  const { mode, names } = readAllowed(choice.allowed_tools, new Set(tools.map(({ name }) => name)));
  return { tools: tools.filter(({ name }) => names.has(name)), toolChoice: { kind: mode } };
}

const ALLOWING_MEMBERS: ReadonlySet<string> = new Set(['type', 'allowed_tools']);

/** A name that is not offered is a mistake; without it the model could have no tool at all. */
function readAllowed(
  allowed: unknown,
  offered: ReadonlySet<string>,
): { mode: 'auto' | 'required'; names: ReadonlySet<string> } {
  const path = 'tool_choice.allowed_tools';
  if (!isObject(allowed)) throw mustBe(path, 'an object with `mode` and `tools`');
  const { mode, tools } = allowed;
  if (mode !== 'auto' && mode !== 'required') throw mustBe(`${path}.mode`, '"auto" or "required"');
  if (!Array.isArray(tools)) throw mustBe(`${path}.tools`, 'a list of tools');
  const names = tools.map((tool, index) => {
    const name = readName(tool, `${path}.tools[${index}]`);
    if (!offered.has(name)) throw mustBe(`${path}.tools[${index}]`, 'one of `tools`');
    return name;
  });
  return { mode, names: new Set(names) };
}

const CHOICE_MEMBERS: ReadonlySet<string> = new Set(['type', 'function', 'custom']);

function readChosen(choice: unknown, adjustments: Adjustments): ToolChoice | null {
  if (isEmpty(choice)) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  if (!isObject(choice) || (choice.type !== 'function' && choice.type !== 'custom')) {
    throw untranslatable('tool_choice', 'send "auto", "none", "required", a tool or allowed tools');
  }
  noteOthers(choice, 'tool_choice', CHOICE_MEMBERS, adjustments);
  const chosen = choice[choice.type];
  if (isObject(chosen)) noteOthers(chosen, `tool_choice.${choice.type}`, CHOSEN_MEMBERS, adjustments);
  return { kind: 'tool', name: readName(choice, 'tool_choice') };
}

const CHOSEN_MEMBERS: ReadonlySet<string> = new Set(['name']);

function readName(tool: unknown, path: string): string {
  if (!isObject(tool)) throw mustBe(path, 'an object with the name of a tool');
  const type = tool.type === 'custom' ? 'custom' : 'function';
  const chosen = tool[type];
  const name = isObject(chosen) ? chosen.name : null;
  if (!isText(name)) throw mustBe(`${path}.${type}.name`, 'the name of a tool');
  return name;
}
