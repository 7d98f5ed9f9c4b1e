import { normalizedBytes } from '../../kit/normalized-bytes.ts';
import { LIMITS } from '../../limits.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import { type PromptMeasure, type PromptVisitor, visitCacheMarks, visitRest } from '../fields/prompt-visitor.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';
import { checkTool, vendorPromptTokens } from './check-tools.ts';

const REFERENCE_MEMBERS = new Set(['type', 'tool_name', 'cache_control']);
const CHANGE_MEMBERS = new Set(['type', 'tool', 'cache_control']);

/** A tool that a search of the caller's own has found among its deferred tools. */
export function visitToolReference(block: Members, path: string, visitor: PromptVisitor): void {
  if (!isText(block.tool_name)) throw mustBe(`${path}.tool_name`, 'the name of a tool');
  visitor.toolText(block.tool_name);
  visitor.toolReference(block.tool_name);
  visitRest(block, REFERENCE_MEMBERS, visitor);
}

/** From here on the model may call this tool, which is declared among the tools or defined in this place. */
export function visitToolAddition(block: Members, path: string, visitor: PromptVisitor): void {
  const { tool } = block;
  if (isObject(tool) && tool.type === 'tool_definition') {
    checkTool(tool.definition, `${path}.tool.definition`, visitor);
    visitor.toolText(JSON.stringify(tool));
    visitor.tools(1);
    for (const marked of [tool, tool.definition]) visitCacheMarks(marked, visitor);
  } else visitor.toolReference(visitReferred(tool, `${path}.tool`, visitor));
  visitRest(block, CHANGE_MEMBERS, visitor);
}

/** From here on the model may not call this tool. */
export function visitToolRemoval(block: Members, path: string, visitor: PromptVisitor): void {
  visitReferred(block.tool, `${path}.tool`, visitor);
  visitRest(block, CHANGE_MEMBERS, visitor);
}

/** Returns the name of the tool. */
function visitReferred(tool: unknown, path: string, visitor: PromptVisitor): string {
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
  visitCacheMarks(tool, visitor);
  return tool.name;
}

/**
 * Hosts write a tool's definition wherever messages refer to it. The first place of a deferred tool is measured with the
 * tools, since it is nowhere else in the prompt; every other place counts once more.
 */
export function measureRepeatedTools({ tools, messages }: Members, measure: PromptMeasure): void {
  const { toolReferences } = measure;
  if (toolReferences.size === 0) return;
  for (const definition of [...objectsIn(tools), ...addedIn(messages)]) {
    const count = toolReferences.get(definition.name as string) ?? 0;
    const repeats = definition.defer_loading === true ? count - 1 : count;
    if (repeats <= 0) continue;
    measure.tools(repeats);
    // Many references must not take as long as writing them all.
    measure.vendorTool(repeats * mostTokens(definition));
  }
}

/**
 * A token has at least one byte, but hosts may escape or normalise a definition, and add a prompt for the vendor's own
 * tools.
 */
function mostTokens(definition: Members): number {
  const json = JSON.stringify(definition);
  const escapedBytes = Buffer.byteLength(json) * LIMITS.toolBytesInflationMax;
  return vendorPromptTokens(definition.type) + Math.max(escapedBytes, normalizedBytes(json));
}

function addedIn(messages: unknown): Members[] {
  return objectsIn(messages)
    .flatMap(({ content }) => objectsIn(content))
    .flatMap(({ type, tool }) =>
      type === 'tool_addition' && isObject(tool) && isObject(tool.definition) ? [tool.definition] : [],
    );
}
