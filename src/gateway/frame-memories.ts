import type { Candidate } from '../hosts/directory.ts';
import { FrameMemory } from '../wires/frames/frame-memory.ts';

/** Two for each host and model: with reasoning and without. They are dropped with the candidate. */
const MEMORIES = new WeakMap<Candidate, readonly [FrameMemory, FrameMemory]>();

/** What is written for a frame depends on the candidate, on whether reasoning is hidden, and on nothing else of a call. */
export function frameMemoryOf(candidate: Candidate, hideReasoning: boolean): FrameMemory {
  let memories = MEMORIES.get(candidate);
  if (memories === undefined) {
    memories = [new FrameMemory(), new FrameMemory()];
    MEMORIES.set(candidate, memories);
  }
  return memories[hideReasoning ? 1 : 0];
}
