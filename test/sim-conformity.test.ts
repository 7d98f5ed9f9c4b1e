import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { mendStream } from '../src/wires/chat/mend.ts';
import { streamFaults } from './chat-conformity.ts';
import { BILL, feed, RELAY_TERMS } from './chat-wire.ts';
import { callRaw, eventsOf } from './raw-client.ts';

const TOOLS = ['open_gate', 'count_cars'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { lane: { type: 'string' } } } },
}));

/** What callers ask for, in every way that changes the frames. */
const ASKS: Readonly<Record<string, object>> = {
  text: {},
  'a long text': { sim: { words: 400 } },
  'words outside ASCII': { sim: { text: 'Die Brücke 橋 "kostet"\n zwei\t€ 🛂 \\ nicht mehr. '.repeat(5) } },
  'parallel tools': { tools: TOOLS, tool_choice: 'required' },
  'one tool': { tools: TOOLS, parallel_tool_calls: false, tool_choice: 'required' },
  reasoning: { reasoning_effort: 'high' },
  logprobs: { logprobs: true, top_logprobs: 2 },
  'several answers': { n: 3 },
  'several answers with tools and traces': {
    n: 2,
    tools: TOOLS,
    tool_choice: 'required',
    reasoning_effort: 'low',
  },
  'a cut answer': { max_completion_tokens: 3 },
  'nothing at all': { sim: { words: 0 } },
  JSON: { response_format: { type: 'json_object' } },
  'one token a chunk': { sim: { words: 40, tokensPerChunk: 1 } },
};

describe('the simulated host', () => {
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim();
  });
  afterAll(() => sim.close());

  /** The relay always asks a host for its usage. */
  const record = async (more: object): Promise<string> => {
    const ask = {
      model: RELAY_TERMS.catalogModel,
      messages: [{ role: 'user', content: 'What does the context cost?' }],
      stream: true,
      stream_options: { include_usage: true },
      ...more,
    };
    const { status, text, ended } = await callRaw(`${sim.url}/v1/chat/completions`, ask);
    expect([status, ended]).toEqual([200, 'complete']);
    return text;
  };

  test.each(Object.entries(ASKS))('sends conforming frames for %s', async (_name, more) => {
    const recording = await record(more);
    const terms = { model: RELAY_TERMS.catalogModel, wantsUsage: true, ended: 'complete' } as const;
    const faults = streamFaults(eventsOf(recording), terms);
    // The relay adds the second name of the reasoning field.
    expect(faults.filter((fault) => fault !== 'has a trace under one of its names only')).toEqual([]);
    for (const wantsUsage of [true, false]) {
      const relay = mendStream({ ...RELAY_TERMS, wantsUsageFrame: wantsUsage });
      const relayed = feed(relay, recording, 50) + relay.closing(BILL);
      expect(streamFaults(eventsOf(relayed), { ...terms, wantsUsage })).toEqual([]);
      expect(relay.usage.state).toBe('reported');
    }
  });

  test('sends frames that pass to the byte', async () => {
    const recording = await record({ tools: TOOLS, tool_choice: 'required', n: 2 });
    const frames = recording.split('\n\n').filter((frame) => frame.includes('"choices":[{'));
    expect(feed(mendStream(RELAY_TERMS), recording)).toBe(frames.map((frame) => `${frame}\n\n`).join(''));
  });
});
