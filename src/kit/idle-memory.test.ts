import { setFlagsFromString } from 'node:v8';
import { expect, test, vi } from 'vitest';
import { ManualClock } from './clock.ts';
import { IdleMemory, MemoryRelief } from './idle-memory.ts';

vi.mock('node:v8', async (load) => {
  const v8 = await load<typeof import('node:v8')>();
  return { ...v8, setFlagsFromString: vi.fn(v8.setFlagsFromString) };
});

const MB = 1024 * 1024;

function open() {
  const clock = new ManualClock();
  const state = { heapBytes: 60 * MB, pauses: 0, isFound: true };
  const giveBack = (): boolean => {
    if (!state.isFound) return false;
    state.pauses++;
    state.heapBytes = 25 * MB;
    return true;
  };
  return { clock, state, memory: new IdleMemory(clock, giveBack, () => state.heapBytes) };
}

test('a young thread gives memory back when it has been idle twice in a row', () => {
  const { state, memory } = open();
  for (const isIdle of [true, false, true]) memory.look(isIdle);
  expect(state.pauses).toBe(0);
  memory.look(true);
  expect([state.pauses, state.heapBytes]).toEqual([1, 25 * MB]);
});

test('after ten seconds a thread gives memory back when it has been idle thirty times in a row', () => {
  const { clock, state, memory } = open();
  memory.look(true);
  clock.advance(10_000);
  for (let look = 0; look < 28; look++) memory.look(true);
  expect(state.pauses).toBe(0);
  memory.look(true);
  expect(state.pauses).toBe(1);
});

test('a busy second now and then only delays it, and pauses of a few seconds between calls never bring it about', () => {
  const { clock, state, memory } = open();
  clock.advance(10_000);
  const seconds = (idle: number): void => {
    for (let look = 0; look < idle; look++) memory.look(true);
    memory.look(false);
  };
  for (let time = 0; time < 100; time++) seconds(5);
  expect(state.pauses).toBe(0);
  for (let time = 0; time < 3; time++) seconds(15);
  expect(state.pauses).toBe(1);
});

test('a thread that was idle for long gives nothing back while it is busy, or soon after', () => {
  const { clock, state, memory } = open();
  clock.advance(10_000);
  state.heapBytes = 0;
  for (let look = 0; look < 3_600; look++) memory.look(true);
  state.heapBytes = 60 * MB;
  for (let look = 0; look < 6; look++) memory.look(false);
  for (let look = 0; look < 29; look++) memory.look(true);
  expect(state.pauses).toBe(0);
});

test('a thread that is short of memory gives it back at once, and again after 30 seconds', () => {
  const clock = new ManualClock();
  let collections = 0;
  const relief = new MemoryRelief(clock, () => ++collections > 0);
  for (const waitMs of [0, 29_999, 1, 0]) {
    clock.advance(waitMs);
    relief.relieve();
  }
  expect(collections).toBe(2);
});

test('an idle thread pauses again only after its heap has grown, and not within five minutes', () => {
  const { clock, state, memory } = open();
  const idle = (): void => {
    for (let look = 0; look < 30; look++) memory.look(true);
  };
  idle();
  clock.advance(300_000);
  state.heapBytes = 32 * MB;
  idle();
  expect(state.pauses).toBe(1);
  state.heapBytes = 33 * MB;
  idle();
  expect(state.pauses).toBe(2);
  clock.advance(299_999);
  state.heapBytes = 60 * MB;
  idle();
  expect(state.pauses).toBe(2);
});

test('the collection of V8 is found, and the heap of this thread is smaller after it', () => {
  let bytes: number[] | null = Array.from({ length: 3_000_000 }, (_, at) => at + 0.5);
  expect(bytes.length).toBe(3_000_000);
  bytes = null;
  const before = process.memoryUsage().heapUsed;
  const memory = new IdleMemory();
  memory.look(true);
  memory.look(true);
  expect(process.memoryUsage().heapUsed).toBeLessThan(before);
});

test('a thread tries again at its next look if another thread has just hidden the collection of V8', () => {
  const { state, memory } = open();
  state.isFound = false;
  for (let look = 0; look < 3; look++) memory.look(true);
  state.isFound = true;
  memory.look(true);
  expect(state.pauses).toBe(1);
});

test('a collection that another thread has hidden at this moment does not end the thread', () => {
  vi.mocked(setFlagsFromString).mockImplementation(() => undefined);
  const memory = new IdleMemory();
  memory.look(true);
  expect(() => memory.look(true)).not.toThrow();
});
