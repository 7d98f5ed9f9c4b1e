import type { Fields } from '../../fields.ts';
import { isAbsent, isFields } from '../../fields.ts';
import type { Breakpoint } from '../../prefix-memory.ts';
import { IMAGE_TOKENS, MESSAGE_TOKENS, type PromptSegment, TOOL_TOKENS } from '../../prompt.ts';
import { reject } from './errors.ts';

const BREAKPOINTS_MAX = 4;

/** The prompt block by block, in the order of the vendor's cache, with the caller's breakpoints. */
export class Transcript {
  readonly segments: PromptSegment[] = [];
  readonly breakpoints: Breakpoint[] = [];

  /** Tools, system and turns each add a few tokens; `opens` says that such a frame begins here. */
  addText(mark: string, text: string, opens: boolean): void {
    this.segments.push({ mark, fixedTokens: opens ? MESSAGE_TOKENS : 0, text });
  }

  /** `promptTokens` is the vendor's own prompt for the tool. */
  addTool(definition: string, promptTokens = 0): void {
    this.segments.push({ mark: 'tool', fixedTokens: TOOL_TOKENS + promptTokens, text: definition });
  }

  addImage(address: string): void {
    this.segments.push({ mark: address, fixedTokens: IMAGE_TOKENS, text: '' });
  }

  /** Sets a breakpoint after the last block, if it asks for one. */
  mark(block: Fields, path: string): void {
    if (isAbsent(block.cache_control)) return;
    this.breakpoints.push({
      segments: this.segments.length,
      forAnHour: readTtl(block.cache_control, `${path}.cache_control`),
    });
  }

  /** Checks the whole prompt once every block has been read. */
  check(): void {
    const { length } = this.breakpoints;
    if (length > BREAKPOINTS_MAX) {
      reject(`A maximum of ${BREAKPOINTS_MAX} blocks with cache_control may be provided. Found ${length}.`);
    }
    const firstShort = this.breakpoints.findIndex((one) => !one.forAnHour);
    if (firstShort !== -1 && this.breakpoints.slice(firstShort).some((one) => one.forAnHour)) {
      reject("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.");
    }
  }
}

function readTtl(control: unknown, path: string): boolean {
  if (!isFields(control) || control.type !== 'ephemeral') return reject(`${path}.type: Input should be 'ephemeral'`);
  if (isAbsent(control.ttl) || control.ttl === '5m') return false;
  return control.ttl === '1h' ? true : reject(`${path}.ttl: Input should be '5m' or '1h'`);
}
