import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `counting: ${name}`, changes: [{ file, find, replace }], tests };
}

/** Faults by which prompts are counted wrongly, at the cost of other accounts, or on the main thread. */
export const COUNTING_MUTANTS: readonly Mutant[] = [
  mutant(
    'an account that fills the counting queue with several keys',
    'src/gateway/counting/token-counter.ts',
    'own.counts < LIMITS.tokenCountsPendingPerAccountMax &&',
    '',
    'src/gateway/counting/token-counter.test.ts',
  ),
  mutant(
    'texts collected on the main thread',
    'src/gateway/counting/prompt-counter.ts',
    'if (otherBytes > Math.max(textBytes, LIMITS.tokenCountOtherBytesMax)) return',
    'return',
    'src/gateway/counting/prompt-counter.test.ts',
  ),
  mutant(
    'large images copied to the counting thread',
    'src/gateway/counting/prompt-counter.ts',
    'if (otherBytes > Math.max(textBytes, LIMITS.tokenCountOtherBytesMax)) return',
    'if (otherBytes < 0) return',
    'src/gateway/counting/prompt-counter.test.ts',
  ),
  mutant(
    'the rest of an earlier body read with the next one',
    'src/gateway/counting/count-thread.ts',
    'Buffer.from(buffer, start, bytes)',
    'Buffer.from(buffer, start)',
    'src/gateway/counting/token-counter.test.ts',
  ),
  mutant(
    'memory moved to the thread although another request is in it',
    'src/kit/joined-pieces.ts',
    'return fillsMemory(piece) || behindHeads.has(piece);',
    'return true;',
    'src/gateway/counting/token-counter.test.ts',
  ),
  mutant(
    'new memory for every body',
    'src/gateway/counting/body-buffers.ts',
    'this.#spare.push(buffer);',
    '',
    'src/gateway/counting/body-buffers.test.ts',
  ),
  mutant(
    'tools that take no room in the counting queue',
    'src/wires/fields/prompt-visitor.ts',
    'this.#chars += text?.length ?? bytes;',
    '',
    'src/gateway/counting/counted-bodies.property.test.ts',
  ),
  mutant(
    'schemas of a batch that are counted once',
    'src/wires/completions/peek.ts',
    'prompts.map(() => schema)',
    '[schema]',
    'src/gateway/counting/counted-bodies.property.test.ts',
  ),
  mutant(
    'every body read as one of the chat wire',
    'src/gateway/counting/count-thread.ts',
    'promptTexts(wire,',
    "promptTexts('chat',",
    'src/gateway/counting/counted-bodies.property.test.ts',
  ),
];
