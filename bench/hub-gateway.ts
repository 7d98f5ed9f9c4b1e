import { join } from 'node:path';
import type { ModelRow } from '../src/catalog/schema.ts';
import { loadConfig } from '../src/config/config.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';
import { systemClock } from '../src/kit/clock.ts';
import { giveBackWhenIdle } from '../src/kit/idle-memory.ts';
import { createLog } from '../src/kit/log.ts';
import { tuneHeap } from '../src/main/heap.ts';
import { startGateway } from '../src/main/start.ts';
import { announce, readTerms } from './child.ts';

/** The gateway in front of one host that speaks three wires, with a model for each. */
const { folder, upstreamPort } = readTerms<{ folder: string; upstreamPort: number }>();

const MODELS = [
  { id: 'hub-chat', wire: 'chat' },
  { id: 'hub-messages', wire: 'messages' },
  { id: 'hub-responses', wire: 'responses' },
] as const;

const rows: ModelRow[] = MODELS.map(({ id, wire }) => ({
  id,
  context_window: 128_000,
  max_output_tokens: 16_384,
  caps: ['chat', 'messages'],
  price: { input: 150_000_000, output: 600_000_000 },
  hosts: [{ host: 'bench', model: 'bench', wire }],
}));

const base = HOST_ROWS.find((row) => row.simulated)!;
const running = await startGateway({
  config: { ...loadConfig({ argvFlags: { data: folder, port: '0', sim: false }, env: {}, cwd: folder }), models: rows },
  hosts: [
    {
      row: { ...base, name: 'bench', baseUrl: `http://127.0.0.1:${upstreamPort}/v1` },
      key: null,
      keySource: null,
      local: false,
      models: [],
    },
  ],
  clock: systemClock,
  log: createLog({ level: 'info', destination: join(folder, 'calls.log') }),
  onFatal: (error) => {
    throw error;
  },
});
tuneHeap();
giveBackWhenIdle();
process.once('SIGTERM', () => void running.stop().then(() => process.exit()));
announce({ port: Number(new URL(running.url).port) });
