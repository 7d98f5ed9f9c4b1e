import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Harness, startHarness } from '../../test/harness.ts';
import type { Candidate } from '../hosts/directory.ts';
import { FrameMemory } from '../wires/frames/frame-memory.ts';
import { RepeatedFrames } from '../wires/frames/repeated-frames.ts';
import { ResponseMemory } from '../wires/frames/response-memory.ts';
import { memoriesOf } from './frame-memories.ts';

test('keeps one memory for each candidate with reasoning and one without, shared with no other candidate', () => {
  const [one, other] = [{}, {}] as [Candidate, Candidate];
  const ways = [one, other].flatMap((candidate) =>
    [true, false].map((hidesReasoning) => [candidate, hidesReasoning] as const),
  );
  const memories = ways.map((way) => memoriesOf(...way));
  expect(new Set(memories.map(({ memory }) => memory)).size).toBe(4);
  expect(new Set(memories.map(({ answers }) => answers)).size).toBe(4);
  expect(ways.map((way) => memoriesOf(...way))).toEqual(memories);
});

test('with frame_memory off, no call uses or teaches a memory, and no frame is passed by its bytes', async () => {
  const harness = await startHarness({ config: { frameMemory: false } });
  const used = vi.spyOn(FrameMemory.prototype, 'noteUse');
  const taught = vi.spyOn(FrameMemory.prototype, 'mayLearn');
  const found = vi.spyOn(RepeatedFrames.prototype, 'find');
  const answers = vi.spyOn(ResponseMemory.prototype, 'find');
  const body = { model: 'sim-gpt', messages: [{ role: 'user', content: 'Hello' }], sim: { words: 20 } };
  for (let call = 0; call < 2; call++) {
    expect(await (await harness.post({ ...body, stream: true })).text()).toContain('[DONE]');
    expect((await harness.post(body)).status).toBe(200);
  }
  expect([used, taught, found, answers].map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0, 0]);
  vi.restoreAllMocks();
  await harness.stop();
});

describe('calls of one model', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.stop());

  test('share what they learned about the frames of their host', async () => {
    const used = vi.spyOn(FrameMemory.prototype, 'noteUse');
    const ask = { model: 'sim-gpt', stream: true, messages: [{ role: 'user', content: 'Hello' }], sim: { words: 20 } };
    const texts: string[] = [];
    for (let call = 0; call < 3; call++) texts.push(await (await harness.post(ask)).text());
    // The first call fills the memory; the others find text and end frames in it.
    expect(used).toHaveBeenCalledTimes(4);
    const ids = texts.map((text) => new Set(text.match(/"id":"[^"]+"/g)));
    expect(ids.map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set(texts).size).toBe(3);
  });

  test('share what they learned about its buffered responses, and differ in ids, text and receipts', async () => {
    const found = vi.spyOn(ResponseMemory.prototype, 'find');
    const bodies: Record<string, unknown>[] = [];
    for (const content of ['Hello', 'Good "evening"', 'Brücke\n']) {
      const response = await harness.post({ model: 'sim-gpt', messages: [{ role: 'user', content }] });
      bodies.push((await response.json()) as Record<string, unknown>);
    }
    expect(found.mock.results.map(({ value }) => value !== null)).toEqual([false, true, true]);
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(3);
    for (const { model, usage } of bodies) {
      expect([model, (usage as { cost_nanousd: number }).cost_nanousd > 0]).toEqual(['sim-gpt', true]);
    }
  });
});
