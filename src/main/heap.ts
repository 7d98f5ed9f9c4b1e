import { setFlagsFromString } from 'node:v8';

/**
 * Turns off V8's allocation-site pretenuring. During warm-up V8 sees objects of running calls survive their first
 * collections, and from then on allocates such objects in the old heap for good, although they live for milliseconds.
 * Dead objects then keep everything they refer to until the next full collection: that cost a quarter of the CPU.
 *
 * Call it when the gateway is ready, not before: once a flag has changed, V8 compiles Node's own modules again for every
 * thread that starts.
 */
export function keepYoungObjectsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
