import type { Candidate } from '../hosts/directory.ts';
import { FrameMemory } from '../wires/frames/frame-memory.ts';

/** One for each way in which the frames of a host and model are relayed; gone with the candidate. */
const MEMORIES = new WeakMap<Candidate, readonly FrameMemory[]>();

/** What is written for a frame depends on the candidate, on how it is relayed, and on nothing else of a call. */
export function frameMemoryOf(candidate: Candidate, exact: boolean, hideReasoning: boolean): FrameMemory {
  let memories = MEMORIES.get(candidate);
  if (memories === undefined) {
    memories = [new FrameMemory(), new FrameMemory(), new FrameMemory(), new FrameMemory()];
    MEMORIES.set(candidate, memories);
  }
  return memories[(exact ? 2 : 0) + (hideReasoning ? 1 : 0)]!;
}
