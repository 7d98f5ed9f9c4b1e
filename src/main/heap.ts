import { setFlagsFromString } from 'node:v8';

/**
 * V8 sees objects of running calls survive their first collections during warm-up, and from then on would allocate such
 * objects in the old heap for good, although they live for milliseconds. Dead objects then keep everything they refer to
 * until the next full collection: that cost a quarter of the CPU.
 */
const YOUNG_OBJECTS_STAY_YOUNG = ['--no-allocation-site-pretenuring'];

/** V8 would let the old heap grow by 8 MB between two full collections, which 64 connections need for their buffers alone. */
const FEW_FULL_COLLECTIONS = ['--heap-growing-percent=100'];

/**
 * After a quiet minute V8 would collect everything that no running call uses, also the shapes of objects that its compiled
 * code relies on, and compile all of it again. It waits for five minutes, as `kit/idle-memory.ts` does between two times.
 */
const COMPILED_CODE_STAYS = [
  '--gc-memory-reducer-start-delay-ms=300000',
  // Older versions of V8 print an error for a flag that they do not have.
  ...(Number.parseInt(process.versions.node, 10) >= 26 ? ['--memory-reducer-delay-ms=300000'] : []),
];

/**
 * Tunes V8 for a server. Call it when the gateway is ready, not before: once a flag has changed, V8 compiles Node's own
 * modules again for every thread that starts.
 */
export function tuneHeap(): void {
  for (const flag of [...YOUNG_OBJECTS_STAY_YOUNG, ...FEW_FULL_COLLECTIONS, ...COMPILED_CODE_STAYS])
    setFlagsFromString(flag);
}
