import { HOST_WIRES, type HostWire } from '../../src/canonical/wire-names.ts';
import type { ModelRow } from '../../src/catalog/schema.ts';
import type { Clock } from '../../src/kit/clock.ts';
import { type Harness, simHost, startHarness } from '../../test/harness.ts';
import { HostileHost } from './hostile-host.ts';

/** One combination: the caller's wire, the host's wire, and the relay between them. */
export interface Lane {
  readonly wire: string;
  readonly path: string;
  readonly hostWire: HostWire;
  readonly relay: 'same wire' | 'translated';
  readonly stream: boolean;
  body(prompt: string): Record<string, unknown>;
}

export interface World {
  readonly harness: Harness;
  readonly host: HostileHost;
  close(): Promise<void>;
}

interface Route {
  readonly path: string;
  body(prompt: string): Record<string, unknown>;
}

const ROUTES: Readonly<Record<string, Route>> = {
  chat: {
    path: '/v1/chat/completions',
    body: (content) => ({
      max_tokens: 500,
      messages: [{ role: 'user', content }],
      stream_options: { include_usage: true },
    }),
  },
  messages: { path: '/v1/messages', body: (content) => ({ max_tokens: 500, messages: [{ role: 'user', content }] }) },
  responses: { path: '/v1/responses', body: (input) => ({ max_output_tokens: 500, input }) },
  completions: { path: '/v1/completions', body: (prompt) => ({ max_tokens: 500, prompt }) },
  embeddings: { path: '/v1/embeddings', body: (input) => ({ input }) },
  systemone: { path: '/v1/systemone', body: (state) => ({ state, questions: { sure: { type: 'noul' } } }) },
  decisions: {
    path: '/v1/decisions',
    body: (input) => ({ input, questions: [{ type: 'predicate', name: 'sure', instructions: 'Is it?' }] }),
  },
};

const TALKING = ['chat', 'messages', 'responses', 'completions'];

function lane(wire: string, hostWire: HostWire, relay: Lane['relay'], stream: boolean): Lane {
  const { path, body } = ROUTES[wire]!;
  const model = modelName(hostWire);
  return {
    wire,
    path,
    hostWire,
    relay,
    stream,
    body: (prompt) => {
      const { stream_options, ...fields } = body(prompt);
      return {
        model,
        ...fields,
        ...(stream ? { stream, ...(stream_options !== undefined && { stream_options }) } : {}),
      };
    },
  };
}

/** Every wire of a caller with every wire of a host that can serve it. */
export const LANES: readonly Lane[] = [true, false].flatMap((stream) => [
  ...TALKING.flatMap((wire) => [
    lane(wire, wire as HostWire, 'same wire', stream),
    ...(['chat', 'messages', 'responses'] as const)
      .filter((hostWire) => hostWire !== wire)
      .map((hostWire) => lane(wire, hostWire, 'translated', stream)),
  ]),
  ...(stream
    ? []
    : [
        lane('embeddings', 'embeddings', 'same wire', false),
        lane('systemone', 'systemone', 'same wire', false),
        lane('decisions', 'systemone', 'same wire', false),
      ]),
]);

function modelName(hostWire: string): string {
  return `hostile-${hostWire}`;
}

function modelRow(wire: HostWire): ModelRow {
  const id = modelName(wire);
  const talking = TALKING.includes(wire);
  return {
    id,
    caps: talking
      ? ['chat', 'tools', 'reasoning', 'structured_outputs', 'prompt_caching', 'messages', 'completions']
      : [wire === 'embeddings' ? 'embeddings' : 'decisions'],
    context_window: 128_000,
    max_output_tokens: talking ? 16_384 : 0,
    ...(talking && { reasoning_efforts: ['none', 'low', 'medium', 'high'] as const, thinking: 'budget' as const }),
    ...(wire === 'embeddings' && { embedding: { dimensions: 256, matryoshka: true } }),
    price: { input: 1_250_000_000, output: talking ? 10_000_000_000 : 0, cache_read: 125_000_000 },
    hosts: [{ host: id, model: id, wire }],
  } as ModelRow;
}

/** A real gateway in front of a hostile host, with a model for every wire. */
export async function openWorld(frameMemory: boolean, clock?: Clock): Promise<World> {
  const host = await HostileHost.start();
  const harness = await startHarness({
    ...(clock !== undefined && { clock }),
    config: { models: HOST_WIRES.map(modelRow), frameMemory },
    hosts: () => HOST_WIRES.map((wire) => simHost(host, { name: modelName(wire), wires: [wire], simulated: false })),
  });
  return {
    harness,
    host,
    close: async () => {
      await harness.stop();
      host.close();
    },
  };
}
