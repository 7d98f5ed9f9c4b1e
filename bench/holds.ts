import { buildCatalog } from '../src/catalog/catalog.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import { openRecord } from '../src/gateway/exchange-record.ts';
import { CATALOG_FACTORS } from '../src/gateway/token-factors.ts';
import { understand } from '../src/gateway/understand.ts';
import { systemClock } from '../src/kit/clock.ts';
import { TokenCounter } from '../src/money/count-tokens.ts';
import { agentTurn } from '../test/agent-request.ts';
import { GatewayFixture } from '../test/gateway-fixture.ts';

/**
 * What a count costs the main thread: one key continues one conversation, one turn per call, and each call is understood
 * with its prompt counted and without. Only the main thread's own time is measured.
 */

const MODEL: ModelRow = {
  id: 'bench',
  caps: ['chat'],
  context_window: 1_000_000,
  price: { input: 2_000_000_000, output: 10_000_000_000 },
  hosts: [{ host: 'alpha', model: 'bench' }],
};
const CALLS_PER_SIZE = 100;
const SIZES_KB = [25, 50, 100, 200];
const NEVER = 10n ** 15n;

async function main(): Promise<void> {
  const fixture = await GatewayFixture.open();
  const counter = new TokenCounter(systemClock);
  // The thread alone would not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  const catalog = buildCatalog({ rows: [MODEL], hosts: new Set(['alpha']), version: '2026-01-01-x' });
  const { limits } = fixture.gateway;
  const gateway = {
    ...fixture.gateway,
    clock: systemClock,
    countTokens: counter,
    tokenFactors: CATALOG_FACTORS,
    prices: () => ({ catalog, priceId: 1 }),
  };
  const counting = { ...gateway, limits: { ...limits, countAboveNanousd: 0n } };
  const plain = { ...gateway, limits: { ...limits, countAboveNanousd: NEVER } };
  /** The clock of a thread is too coarse for one call, so all calls are measured together. */
  const microsPerCall = async (one: typeof gateway, bodies: readonly string[]): Promise<number> => {
    const calls = bodies.map((body) => fixture.call(body));
    const before = threadMicros();
    for (const call of calls) await understand(one, call, openRecord(call));
    return Math.round((threadMicros() - before) / calls.length);
  };
  const messages: object[] = [{ role: 'user', content: 'Change the rules.' }];
  let turn = 0;
  process.stdout.write('conversation   not counted      counted   ratio   for the count\n');
  for (const sizeKb of SIZES_KB) {
    while (JSON.stringify(messages).length < sizeKb * 1024) messages.push(...chatTurn(turn++));
    await microsPerCall(counting, [bodyOf(messages)]);
    const bodies = Array.from({ length: CALLS_PER_SIZE }, () => {
      messages.push(...chatTurn(turn++, 60));
      return bodyOf(messages);
    });
    await microsPerCall(plain, bodies);
    const plainMicros = await microsPerCall(plain, bodies);
    process.stdout.write(`${rowOf(sizeKb, plainMicros, await microsPerCall(counting, bodies))}\n`);
  }
  clearInterval(alive);
  await counter.close();
}

/** The agent's turn in the form of the chat wire. */
function chatTurn(turn: number, chars?: number): object[] {
  const [, result] = agentTurn(turn, chars) as { content: { content: string }[] }[];
  return [
    { role: 'assistant', content: `I will look at part ${turn}.` },
    { role: 'user', content: result!.content[0]!.content },
  ];
}

function bodyOf(messages: readonly object[]): string {
  return JSON.stringify({ model: MODEL.id, max_tokens: 100, messages });
}

function threadMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function rowOf(sizeKb: number, plainMicros: number, countedMicros: number): string {
  const cells = [
    `${sizeKb} KB`.padStart(12),
    `${plainMicros} µs`.padStart(14),
    `${countedMicros} µs`.padStart(13),
    (countedMicros / plainMicros).toFixed(2).padStart(8),
    `${countedMicros - plainMicros} µs`.padStart(16),
  ];
  return cells.join('');
}

await main();
