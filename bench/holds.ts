import { loadavg } from 'node:os';
import { buildCatalog } from '../src/catalog/catalog.ts';
import type { CatalogModel } from '../src/catalog/model.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import type { Call } from '../src/gateway/call.ts';
import { counterFor } from '../src/gateway/counting/prompt-counter.ts';
import { TokenCounter } from '../src/gateway/counting/token-counter.ts';
import { openRecord } from '../src/gateway/exchange-record.ts';
import type { Gateway } from '../src/gateway/gateway.ts';
import { readBody } from '../src/gateway/read-call.ts';
import { CATALOG_FACTORS } from '../src/gateway/token-factors.ts';
import { understand } from '../src/gateway/understand.ts';
import { systemClock } from '../src/kit/clock.ts';
import type { CountOrder } from '../src/money/count-tasks.ts';
import { promptTexts } from '../src/wires/prompt-texts.ts';
import { agentTurn } from '../test/agent-request.ts';
import { GatewayFixture } from '../test/gateway-fixture.ts';

/**
 * What a count costs the main thread. One key continues one conversation, one turn per call. Each call is understood
 * without a count and with a count of one word: the difference in CPU time is what waiting for the thread costs. Then its
 * prompt is handed to the thread, as the gateway does it and as texts that are collected first. That is done without
 * waiting, so it is timed by the clock. Rounds go through all sizes, so that a disturbance does not hit one size alone, and
 * medians are printed.
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
  readonly bodyMicros: number[];
  readonly textsMicros: number[];
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
    usage: { report: () => Promise.reject(new Error('Nothing asks for usage here.')) },
    refusals: { refused: () => {} },
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
  const model = catalog.find(MODEL.id)!;
  const conversations = SIZES_KB.map(conversationOf);
  for (let round = -1; round < ROUNDS; round++) {
    for (const conversation of conversations) {
      const bodies = continued(conversation, CALLS_PER_ROUND);
      const plainMicros = await microsPerCall(plain, bodies);
      const waitingMicros = await microsPerCall(waiting, bodies);
      const handed = await handOver(counting, model, bodies, (body) => fixture.call(body));
      // The first round compiles the code and loads the tokenizer.
      if (round === -1) continue;
      conversation.plainMicros.push(plainMicros);
      conversation.waitMicros.push(waitingMicros - plainMicros);
      conversation.bodyMicros.push(...handed.bodyMicros);
      conversation.textsMicros.push(...handed.textsMicros);
    }
  }
  clearInterval(alive);
  await counter.close();
  print(conversations);
}

type Handed = Pick<Conversation, 'bodyMicros' | 'textsMicros'>;

/** The time until the thread has what it counts, for each call. */
async function handOver(
  gateway: Gateway,
  model: CatalogModel,
  bodies: readonly string[],
  callOf: (body: string) => Call,
): Promise<Handed> {
  const handed: Handed = { bodyMicros: [], textsMicros: [] };
  for (const call of bodies.map(callOf)) {
    const text = readBody(call.body);
    const peek = call.wire.client.peek(text, call.headers);
    const withTexts: Gateway = {
      ...gateway,
      countTokens: { count: (order) => gateway.countTokens.count(order, promptTexts('chat', text)) },
    };
    for (const [one, micros] of [
      [gateway, handed.bodyMicros],
      [withTexts, handed.textsMicros],
    ] as const) {
      const counter = counterFor(one, call, text, peek);
      const before = performance.now();
      const counting = counter.count(model);
      micros.push((performance.now() - before) * 1000);
      if ((await counting) === null) throw new Error('A prompt was not counted.');
    }
  }
  return handed;
}

/** A conversation that is this long in the middle of the measurement. */
function conversationOf(sizeKb: number): Conversation {
  const messages: object[] = [{ role: 'user', content: 'Change the rules.' }];
  let turn = 0;
  while (JSON.stringify(messages).length < sizeKb * 1024) messages.push(...chatTurn(turn++));
  return { sizeKb, messages, turn, plainMicros: [], waitMicros: [], bodyMicros: [], textsMicros: [] };
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

type Medians = [plain: number, wait: number, body: number, texts: number];

function print(conversations: readonly Conversation[]): void {
  const lines = conversations.map(({ sizeKb, messages, plainMicros, waitMicros, bodyMicros, textsMicros }) => {
    const [plain, wait, body, texts] = [plainMicros, waitMicros, bodyMicros, textsMicros].map(median) as Medians;
    return [
      `${sizeKb} KB`.padStart(12),
      String(messages.length).padStart(11),
      micros(plain).padStart(14),
      micros(wait).padStart(10),
      micros(texts).padStart(14),
      micros(body).padStart(13),
      (body / plain).toFixed(2).padStart(17),
    ].join('');
  });
  const head = 'conversation   messages   not counted   waiting   handed: texts   as gateway   of not counted';
  const load = `Load ${loadavg()[0]!.toFixed(1)}, medians of ${ROUNDS} rounds of ${CALLS_PER_ROUND} calls.`;
  process.stdout.write(`${[head, ...lines, load].join('\n')}\n`);
}

function micros(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} µs`;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

await main();
