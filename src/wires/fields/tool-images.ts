import type { PromptVisitor } from './prompt-visitor.ts';

/** Says where an image comes from that follows the results of tools, because the host takes none in the results. */
export const SHOWN_BY_TOOL = 'A tool has returned this image:';

/** What a host may read besides an image in the result of a tool: these words, and the message around both. */
export function visitToolImage(visitor: PromptVisitor): void {
  visitor.text(SHOWN_BY_TOOL);
  visitor.part();
  visitor.part();
}
