import { checkBreakpoint } from '../fields/cache-options.ts';
import { FUNCTION_FORM } from '../fields/custom-input.ts';
import { isAbsent, isObject, isText, type Members } from '../fields/members.ts';
import type { PromptVisitor } from '../fields/prompt-visitor.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';

/** Checks that the caller runs all tools; returns how many functions the host gets. */
export function checkTools(tools: unknown, visitor: PromptVisitor, at = 'tools'): number {
  if (!Array.isArray(tools)) return 0;
  let count = 0;
  tools.forEach((tool, index) => {
    const path = `${at}[${index}]`;
    const checked = checkNamed(tool, path);
    if (checked.type === 'namespace') count += checkNamespace(checked, path, visitor);
    else {
      checkTool(checked, path, visitor);
      count++;
    }
  });
  return count;
}

function checkNamed(tool: unknown, path: string): Members {
  if (!isObject(tool)) throw mustBe(path, 'an object');
  checkBreakpoint(tool, path);
  if (typeof tool.type !== 'string') throw mustBe(`${path}.type`, '"function"');
  if (OWN_TOOLS.includes(tool.type) && !isText(tool.name)) throw mustBe(`${path}.name`, 'a string');
  return tool;
}

const OWN_TOOLS = ['function', 'custom', 'namespace'];

/** The members of a namespace are offered one by one, each under the name of the namespace too. */
function checkNamespace({ name, tools }: Members, path: string, visitor: PromptVisitor): number {
  if (!Array.isArray(tools)) throw mustBe(`${path}.tools`, 'a list of functions');
  tools.forEach((member, index) => {
    checkTool(checkNamed(member, `${path}.tools[${index}]`), `${path}.tools[${index}]`, visitor);
    visitor.toolText(`${String(name)}__`);
  });
  return tools.length;
}

function checkTool(tool: Members, path: string, visitor: PromptVisitor): void {
  if (tool.type === 'custom') {
    checkGrammar(tool.format, `${path}.format`);
    visitor.toolText(FUNCTION_FORM);
  } else if (tool.type !== 'function' && !isClientsSearch(tool)) throw hostedTool(String(tool.type), `${path}.type`);
  if (!isAbsent(tool.parameters) && !isObject(tool.parameters)) throw mustBe(`${path}.parameters`, 'a JSON schema');
}

function checkGrammar(format: unknown, path: string): void {
  if (!isObject(format) || format.type !== 'grammar') return;
  for (const name of ['syntax', 'definition']) if (!isText(format[name])) throw mustBe(`${path}.${name}`, 'a string');
}

/** A search through the client's own tools, which the client runs. */
function isClientsSearch({ type, execution }: Members): boolean {
  return type === 'tool_search' && execution === 'client';
}

const CHOICE_TYPES = ['function', 'custom', 'allowed_tools'];

export function checkToolChoice(choice: unknown): void {
  if (!isObject(choice)) return;
  if (typeof choice.type !== 'string') throw mustBe('tool_choice.type', `one of ${CHOICE_TYPES.join(', ')}`);
  if (!CHOICE_TYPES.includes(choice.type)) throw hostedTool(choice.type, 'tool_choice.type');
  if (choice.type !== 'allowed_tools') checkChosen(choice, 'tool_choice');
  else if (Array.isArray(choice.tools))
    choice.tools.forEach((tool, index) => void checkChosen(tool, `tool_choice.tools[${index}]`));
}

function checkChosen(tool: unknown, path: string): void {
  if (!isObject(tool)) throw mustBe(path, 'an object');
  if ((tool.type === 'function' || tool.type === 'custom') && !isText(tool.name))
    throw mustBe(`${path}.name`, 'the name of a tool');
}

function hostedTool(type: string, path: string): Error {
  const named = JSON.stringify(type.slice(0, 60));
  const remedy = 'take it out of the request, or switch it off in the settings of your client, and use function tools';
  return unsupported(path, `\`${path}\` ${named} is a server-side tool, which has no price here; ${remedy}.`);
}
