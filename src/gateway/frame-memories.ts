import type { Candidate } from '../hosts/directory.ts';
import { FrameMemory } from '../wires/frames/frame-memory.ts';

/** Two for each host and model: with and without reasoning. They are garbage-collected with the candidate. */
const MEMORIES = new WeakMap<Candidate, readonly [FrameMemory, FrameMemory]>();

/** The output for a frame depends only on the candidate and on whether reasoning is hidden. */
export function frameMemoryOf(candidate: Candidate, hideReasoning: boolean): FrameMemory {
  let memories = MEMORIES.get(candidate);
  if (memories === undefined) {
    memories = [new FrameMemory(), new FrameMemory()];
    MEMORIES.set(candidate, memories);
  }
  return memories[hideReasoning ? 1 : 0];
}
