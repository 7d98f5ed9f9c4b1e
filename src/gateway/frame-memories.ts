import type { Candidate } from '../hosts/directory.ts';
import type { CacheSize } from '../kit/caches.ts';
import { LIMITS } from '../limits.ts';
import { FrameMemory } from '../wires/frames/frame-memory.ts';
import { ResponseMemory } from '../wires/frames/response-memory.ts';
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

/** Patterns of three kinds of frames, and of buffered responses. */
const KINDS = 4;

/** The patterns that the memories of these candidates hold. */
export function frameMemorySize(candidates: readonly Candidate[]): CacheSize {
  const memories = candidates.flatMap((candidate) => MEMORIES.get(candidate) ?? []);
  return {
    cache: 'frame_patterns',
    entries: memories.reduce((sum, { memory, answers }) => sum + memory.size + answers.patterns.length, 0),
    entriesMax: memories.length * KINDS * LIMITS.cachedFramesMax,
  };
}

function newMemories(): Memories {
  return { memory: new FrameMemory(), answers: new ResponseMemory() };
}
