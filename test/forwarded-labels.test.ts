import { describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** Fields about the caller's user, in requests that are translated for the model's host. */

const LABELS = { prompt_cache_key: 'thread-7', safety_identifier: 'someone', user: 'somebody' };
const CALLS = [
  ['/v1/chat/completions', { model: 'sim-responses', messages: [{ role: 'user', content: 'Hello' }] }],
  ['/v1/responses', { model: 'sim-gpt', input: 'Hello' }],
  ['/v1/completions', { model: 'sim-gpt', prompt: 'Hello' }],
] as const;

async function within(row: Parameters<typeof startHarness>[0], run: (harness: Harness) => Promise<void>) {
  const harness = await startHarness(row);
  try {
    await run(harness);
    await harness.expectCleanBooks();
  } finally {
    await harness.stop();
  }
}

const sent = ({ sim }: Harness): unknown => JSON.parse(sim.calls.at(-1)!.body);

describe.each(CALLS)('a request to %s for a host of another wire', (path, body) => {
  test('carries those that the host’s row forwards', async () => {
    await within({ row: { forwards: ['prompt_cache_key', 'safety_identifier'] } }, async (harness) => {
      expect((await harness.post({ ...body, ...LABELS }, {}, path)).status).toBe(200);
      expect(sent(harness)).toMatchObject({ prompt_cache_key: 'thread-7', safety_identifier: 'someone' });
      expect(sent(harness)).not.toHaveProperty('user');
    });
  });

  test('carries none if the row forwards none', async () => {
    await within({}, async (harness) => {
      expect((await harness.post({ ...body, ...LABELS }, {}, path)).status).toBe(200);
      for (const name of Object.keys(LABELS)) expect(sent(harness)).not.toHaveProperty(name);
    });
  });
});

test('hosts of the messages wire, which has other fields for them, get none', async () => {
  await within({ row: { forwards: ['prompt_cache_key', 'metadata'] } }, async (harness) => {
    const body = { model: 'sim-claude', messages: [{ role: 'user', content: 'Hello' }], metadata: { team: 'a' } };
    expect((await harness.post({ ...body, ...LABELS })).status).toBe(200);
    expect(sent(harness)).not.toHaveProperty('metadata');
    expect(sent(harness)).not.toHaveProperty('prompt_cache_key');
  });
});
