import type { Candidate } from '../hosts/directory.ts';
import { AnswerMemory } from '../wires/frames/answer-memory.ts';
import { FrameMemory } from '../wires/frames/frame-memory.ts';
import type { RelayTerms } from '../wires/wire.ts';

type Memories = Required<Pick<RelayTerms, 'memory' | 'answers'>>;

/** Two for each host and model: with and without reasoning. They are garbage-collected with the candidate. */
const MEMORIES = new WeakMap<Candidate, readonly [Memories, Memories]>();

/** The output for a frame or a response depends only on the candidate and on whether reasoning is hidden. */
export function memoriesOf(candidate: Candidate, hideReasoning: boolean): Memories {
  let memories = MEMORIES.get(candidate);
  if (memories === undefined) {
    memories = [newMemories(), newMemories()];
    MEMORIES.set(candidate, memories);
  }
  return memories[hideReasoning ? 1 : 0];
}

function newMemories(): Memories {
  return { memory: new FrameMemory(), answers: new AnswerMemory() };
}
