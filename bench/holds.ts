import { loadavg } from 'node:os';
import { buildCatalog } from '../src/catalog/catalog.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import { openRecord } from '../src/gateway/exchange-record.ts';
import type { Gateway } from '../src/gateway/gateway.ts';
import { CATALOG_FACTORS } from '../src/gateway/token-factors.ts';
import { understand } from '../src/gateway/understand.ts';
import { systemClock } from '../src/kit/clock.ts';
import { type CountOrder, TokenCounter } from '../src/money/count-tokens.ts';
import { agentTurn } from '../test/agent-request.ts';
import { GatewayFixture } from '../test/gateway-fixture.ts';

/**
 * What a count costs the main thread. One key continues one conversation, one turn per call. Each call is understood three
 * times: without a count, with a count of one word, and with a count of its prompt. The first difference is what waiting
 * for the thread costs, the second what the conversation adds to it. Only the main thread's own time is measured. Rounds
 * go through all sizes, so that a disturbance does not hit one size alone, and medians are printed.
 */

const MODEL: ModelRow = {
  id: 'bench',
  caps: ['chat'],
  context_window: 1_000_000,
  price: { input: 2_000_000_000, output: 10_000_000_000 },
  hosts: [{ host: 'alpha', model: 'bench' }],
};
const CALLS_PER_ROUND = 60;
const ROUNDS = 15;
const SIZES_KB = [25, 50, 100, 200];
const NEVER = 10n ** 15n;
const ONE_WORD = { texts: ['word'], toolTexts: [] };

interface Conversation {
  readonly sizeKb: number;
  readonly messages: object[];
  turn: number;
  readonly plainMicros: number[];
  readonly waitMicros: number[];
  readonly countMicros: number[];
}

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
  const waiting = { ...counting, countTokens: { count: (order: CountOrder) => counter.count(order, ONE_WORD) } };
  const plain = { ...gateway, limits: { ...limits, countAboveNanousd: NEVER } };
  /** The clock of a thread is too coarse for one call, so all calls of a round are measured together. */
  const microsPerCall = async (one: Gateway, bodies: readonly string[]): Promise<number> => {
    const calls = bodies.map((body) => fixture.call(body));
    const before = threadMicros();
    for (const call of calls) {
      const { admission } = await understand(one, call, openRecord(call));
      if ((admission.counted !== null) !== (one !== plain)) throw new Error('A prompt was not counted as asked.');
    }
    return (threadMicros() - before) / calls.length;
  };
  const conversations = SIZES_KB.map(conversationOf);
  for (let round = -1; round < ROUNDS; round++) {
    for (const conversation of conversations) {
      const bodies = continued(conversation, CALLS_PER_ROUND);
      const plainMicros = await microsPerCall(plain, bodies);
      const waitingMicros = await microsPerCall(waiting, bodies);
      const countingMicros = await microsPerCall(counting, bodies);
      // The first round compiles the code and loads the tokenizer.
      if (round === -1) continue;
      conversation.plainMicros.push(plainMicros);
      conversation.waitMicros.push(waitingMicros - plainMicros);
      conversation.countMicros.push(countingMicros - waitingMicros);
    }
  }
  clearInterval(alive);
  await counter.close();
  print(conversations);
}

/** A conversation that is this long in the middle of the measurement. */
function conversationOf(sizeKb: number): Conversation {
  const messages: object[] = [{ role: 'user', content: 'Change the rules.' }];
  let turn = 0;
  while (JSON.stringify(messages).length < sizeKb * 1024) messages.push(...chatTurn(turn++));
  return { sizeKb, messages, turn, plainMicros: [], waitMicros: [], countMicros: [] };
}

/** Bodies of the next calls, each with one more turn. The conversation itself stays as long as it is. */
function continued(conversation: Conversation, calls: number): string[] {
  const messages = [...conversation.messages];
  return Array.from({ length: calls }, () => {
    messages.push(...chatTurn(conversation.turn++, 60));
    return bodyOf(messages);
  });
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

function print(conversations: readonly Conversation[]): void {
  const rows = conversations.map(({ sizeKb, messages, plainMicros, waitMicros, countMicros }) => ({
    sizeKb,
    messages: messages.length,
    plain: median(plainMicros),
    wait: median(waitMicros),
    count: median(countMicros),
  }));
  const lines = rows.map(({ sizeKb, messages, plain, wait, count }) =>
    [
      `${sizeKb} KB`.padStart(12),
      String(messages).padStart(11),
      micros(plain).padStart(14),
      micros(wait).padStart(10),
      micros(count).padStart(19),
      (count / plain).toFixed(2).padStart(16),
    ].join(''),
  );
  const head = 'conversation   messages   not counted   waiting   its conversation   of not counted';
  const load = `Load ${loadavg()[0]!.toFixed(1)}, medians of ${ROUNDS} rounds of ${CALLS_PER_ROUND} calls.`;
  process.stdout.write(`${[head, ...lines, load].join('\n')}\n`);
}

function micros(value: number): string {
  return `${value.toFixed(0)} µs`;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

await main();
