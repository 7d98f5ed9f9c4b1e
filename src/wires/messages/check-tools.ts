import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject } from '../fields/members.ts';
import type { PromptVisitor } from '../fields/prompt-visitor.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';

/**
 * Tools that the vendor defines and the client runs. They cost only tokens: the vendor adds a prompt of its own for each.
 * Its other tools run on its servers and are billed per use.
 */
const CLIENT_RUN: readonly { readonly prefix: string; readonly tokens: number }[] = [
  { prefix: 'bash_', tokens: LIMITS.bashToolTokens },
  { prefix: 'text_editor_', tokens: LIMITS.textEditorToolTokens },
  { prefix: 'memory_', tokens: LIMITS.memoryToolTokens },
  { prefix: 'computer_', tokens: LIMITS.computerToolTokens },
];

function findClientRun(type: unknown): (typeof CLIENT_RUN)[number] | undefined {
  return typeof type === 'string' ? CLIENT_RUN.find(({ prefix }) => type.startsWith(prefix)) : undefined;
}

/** True for a tool whose schema is built into the vendor's models, so that no other model knows it. */
export function isVendorDefined(type: unknown): boolean {
  return findClientRun(type) !== undefined;
}

/** The most tokens of the vendor's own prompt for a tool; 0 for tools of the caller. */
export function vendorPromptTokens(type: unknown): number {
  return findClientRun(type)?.tokens ?? 0;
}

/** Checks that the caller runs all tools. */
export function checkTools(tools: readonly unknown[], visitor: Pick<PromptVisitor, 'vendorTool'>): void {
  for (let index = 0; index < tools.length; index++) checkTool(tools[index], `tools[${index}]`, visitor);
}

export function checkTool(tool: unknown, path: string, visitor: Pick<PromptVisitor, 'vendorTool'>): void {
  if (!isObject(tool)) throw mustBe(path, 'an object');
  const clientRun = findClientRun(tool.type);
  if (clientRun !== undefined) {
    visitor.vendorTool(clientRun.tokens);
    return;
  }
  if (!isAbsent(tool.type) && tool.type !== 'custom') throw refusedTool(tool.type, `${path}.type`);
  if (typeof tool.name !== 'string' || tool.name === '') throw mustBe(`${path}.name`, 'a string');
  if (!isObject(tool.input_schema)) throw mustBe(`${path}.input_schema`, 'a JSON schema');
}

function refusedTool(type: unknown, path: string) {
  if (typeof type !== 'string') return mustBe(path, '"custom"');
  // Functions of other wires also run at the caller, but have another form.
  if (type === 'function') return mustBe(path, 'left out: tools of this route have a `name` and an `input_schema`');
  const named = JSON.stringify(type.slice(0, 60));
  const remedy = 'take it out of the request, or switch it off in the settings of your client';
  return unsupported(path, `\`${path}\` ${named} runs on the vendor's servers and has no price here; ${remedy}.`);
}
