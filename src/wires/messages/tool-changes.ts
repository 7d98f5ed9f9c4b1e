import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { type PromptVisitor, visitRest } from '../fields/prompt-visitor.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';
import { checkTool } from './check-tools.ts';

const REFERENCE_MEMBERS = new Set(['type', 'tool_name', 'cache_control']);
const CHANGE_MEMBERS = new Set(['type', 'tool', 'cache_control']);

/** A tool that a search of the caller's own has found among its deferred tools. */
export function visitToolReference(block: Members, path: string, visitor: PromptVisitor): void {
  if (!isText(block.tool_name)) throw mustBe(`${path}.tool_name`, 'the name of a tool');
  visitor.toolText(block.tool_name);
  visitRest(block, REFERENCE_MEMBERS, visitor);
}

/** From here on the model may call this tool, which is declared among the tools or defined in this place. */
export function visitToolAddition(block: Members, path: string, visitor: PromptVisitor): void {
  const { tool } = block;
  if (isObject(tool) && tool.type === 'tool_definition') {
    checkTool(tool.definition, `${path}.tool.definition`, visitor);
    visitor.toolText(JSON.stringify(tool));
    visitor.tools(1);
  } else visitReferred(tool, `${path}.tool`, visitor);
  visitRest(block, CHANGE_MEMBERS, visitor);
}

/** From here on the model may not call this tool. */
export function visitToolRemoval(block: Members, path: string, visitor: PromptVisitor): void {
  visitReferred(block.tool, `${path}.tool`, visitor);
  visitRest(block, CHANGE_MEMBERS, visitor);
}

function visitReferred(tool: unknown, path: string, visitor: PromptVisitor): void {
  if (!isObject(tool) || typeof tool.type !== 'string') throw mustBe(path, 'an object with a type');
  if (tool.type !== 'tool_reference') {
    const named = JSON.stringify(tool.type.slice(0, 60));
    throw unsupported(
      `${path}.type`,
      `\`${path}.type\` ${named} has no price here; refer to a tool of your own by name.`,
    );
  }
  if (!isText(tool.name)) throw mustBe(`${path}.name`, 'the name of a tool');
  visitor.toolText(JSON.stringify(tool));
}

/**
 * Hosts write a tool's definition wherever messages refer to it. The first place of a deferred tool is measured with the
 * tools, since it is nowhere else in the prompt; every other place counts once more.
 */
export function visitRepeatedTools(tools: unknown, messages: readonly unknown[], visitor: PromptVisitor): void {
  const references = countReferences(messages);
  if (references.size === 0) return;
  for (const definition of [...objectsIn(tools), ...addedIn(messages)]) {
    const count = references.get(definition.name) ?? 0;
    const repeats = definition.defer_loading === true ? count - 1 : count;
    // A token has at least one byte, and many references must not take as long as writing them all.
    if (repeats > 0) visitor.vendorTool(repeats * Buffer.byteLength(JSON.stringify(definition)));
  }
}

function countReferences(messages: readonly unknown[]): Map<unknown, number> {
  const counts = new Map<unknown, number>();
  for (const block of blocksIn(messages)) {
    for (const name of referredIn(block)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function referredIn({ type, content, tool }: Members): unknown[] {
  if (type === 'tool_addition' && isObject(tool) && tool.type === 'tool_reference') return [tool.name];
  if (type !== 'tool_result') return [];
  return objectsIn(content).flatMap((part) => (part.type === 'tool_reference' ? [part.tool_name] : []));
}

function addedIn(messages: readonly unknown[]): Members[] {
  return blocksIn(messages).flatMap(({ type, tool }) =>
    type === 'tool_addition' && isObject(tool) && isObject(tool.definition) ? [tool.definition] : [],
  );
}

function blocksIn(messages: readonly unknown[]): Members[] {
  return objectsIn(messages).flatMap(({ content }) => objectsIn(content));
}
