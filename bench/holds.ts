import { loadavg } from 'node:os';
import type { PromptTexts } from '../src/canonical/prompt-size.ts';
import { buildCatalog } from '../src/catalog/catalog.ts';
import type { CatalogModel } from '../src/catalog/model.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import type { Call } from '../src/gateway/call.ts';
import { counterFor } from '../src/gateway/counting/prompt-counter.ts';
import { type PromptBody, TokenCounter } from '../src/gateway/counting/token-counter.ts';
import { openRecord } from '../src/gateway/exchange-record.ts';
import type { Gateway } from '../src/gateway/gateway.ts';
import { readBody } from '../src/gateway/read-call.ts';
import { CATALOG_FACTORS } from '../src/gateway/token-factors.ts';
import { understand } from '../src/gateway/understand.ts';
import { systemClock } from '../src/kit/clock.ts';
import { joinPieces, pieceBehindHead } from '../src/kit/joined-pieces.ts';
import type { CountOrder } from '../src/money/count-tasks.ts';
import { promptTexts } from '../src/wires/prompt-texts.ts';
import { agentTurn } from '../test/agent-request.ts';
import { GatewayFixture } from '../test/gateway-fixture.ts';

/**
 * What a count costs the main thread. One key continues one conversation, one turn per call. Each call is understood
 * without a count and with a count of one word: the difference in CPU time is what waiting for the thread costs. Then its
 * prompt is handed to the thread in several ways. That is done without waiting, so it is timed by the clock. Rounds go through all sizes, so that a disturbance does not hit one size alone, and
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
  readonly handed: Handed;
}

/** Microseconds for handing something to the thread, one number for each call. */
type Handed = Record<Way, number[]>;
/** One word for comparison; the prompt as texts that are collected first; its body, copied; and as the gateway does it. */
type Way = (typeof WAYS)[number];
const WAYS = ['word', 'texts', 'copied', 'gateway'] as const;

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
      const handed = await handOver(counting, model, bodies, (body) => ({ ...fixture.call(), body: arrived(body) }));
      // The first round compiles the code and loads the tokenizer.
      if (round === -1) continue;
      conversation.plainMicros.push(plainMicros);
      conversation.waitMicros.push(waitingMicros - plainMicros);
      for (const way of WAYS) conversation.handed[way].push(...handed[way]);
    }
  }
  clearInterval(alive);
  await counter.close();
  print(conversations);
}

/** The time until the thread has what it counts, for each call. */
async function handOver(
  gateway: Gateway,
  model: CatalogModel,
  bodies: readonly string[],
  callOf: (body: string) => Call,
): Promise<Handed> {
  const handed = noneHanded();
  for (const [at, call] of bodies.map(callOf).entries()) {
    const text = readBody(call.body);
    const peek = call.wire.client.peek(text, call.headers);
    const body = { wire: 'chat', bytes: Buffer.from(call.body), chars: peek.size.chars ?? call.body.length } as const;
    const prompts: Record<Way, (asked: PromptTexts | PromptBody) => PromptTexts | PromptBody> = {
      word: () => ONE_WORD,
      texts: () => promptTexts('chat', text),
      copied: () => body,
      gateway: (asked) => asked,
    };
    // In turns, so that none of them always follows the reading of the body.
    for (const way of WAYS.map((_, place) => WAYS[(place + at) % WAYS.length]!)) {
      const countTokens: Gateway['countTokens'] = {
        count: (order, asked) => gateway.countTokens.count(order, prompts[way](asked)),
      };
      const counter = counterFor({ ...gateway, countTokens }, call, text, peek);
      const before = performance.now();
      const counting = counter.count(model);
      handed[way].push((performance.now() - before) * 1000);
      if ((await counting) === null) throw new Error('A prompt was not counted.');
    }
  }
  return handed;
}

function noneHanded(): Handed {
  return { word: [], texts: [], copied: [], gateway: [] };
}

/** Reads of a socket have at most this many bytes. The first one begins with the head of the request. */
const READ_BYTES = 64 * 1024;
const HEAD_BYTES = 300;

/** The body as it arrives over a connection. */
function arrived(body: string): Buffer {
  const sent = Buffer.concat([Buffer.alloc(HEAD_BYTES), Buffer.from(body)]);
  const reads: Buffer[] = [];
  for (let at = 0; at < sent.length; at += READ_BYTES) {
    const read = sent.subarray(at, at + READ_BYTES);
    reads.push(Buffer.from(new ArrayBuffer(read.length)).fill(read));
  }
  const [first, ...others] = reads;
  return joinPieces([pieceBehindHead(first!, HEAD_BYTES, body.length), ...others]);
}

/** A conversation that is this long in the middle of the measurement. */
function conversationOf(sizeKb: number): Conversation {
  const messages: object[] = [{ role: 'user', content: 'Change the rules.' }];
  let turn = 0;
  while (JSON.stringify(messages).length < sizeKb * 1024) messages.push(...chatTurn(turn++));
  return { sizeKb, messages, turn, plainMicros: [], waitMicros: [], handed: noneHanded() };
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
  const lines = conversations.map(({ sizeKb, messages, plainMicros, waitMicros, handed }) => {
    const plain = median(plainMicros);
    return [
      `${sizeKb} KB`.padStart(12),
      String(messages.length).padStart(11),
      micros(plain).padStart(14),
      micros(median(waitMicros)).padStart(10),
      ...WAYS.map((way) => micros(median(handed[way])).padStart(12)),
      (median(handed.gateway) / plain).toFixed(2).padStart(17),
    ].join('');
  });
  const ways = ['  handed: word', 'texts', 'body copied', 'as gateway'].map((name) => name.padStart(12)).join('');
  const head = `conversation   messages   not counted   waiting${ways}   of not counted`;
  const load = `Load ${loadavg()[0]!.toFixed(1)}, medians of ${ROUNDS} rounds of ${CALLS_PER_ROUND} calls.`;
  process.stdout.write(`${[head, ...lines, growth(conversations), load].join('\n')}\n`);
}

function growth(conversations: readonly Conversation[]): string {
  const [shortest, longest] = [conversations[0]!, conversations.at(-1)!];
  const times = (figure: (one: Conversation) => readonly number[]) =>
    `${(median(figure(longest)) / median(figure(shortest))).toFixed(2)} times`;
  const ways = WAYS.map((way) => `${way} ${times(({ handed }) => handed[way])}`).join(', ');
  return `From ${shortest.sizeKb} to ${longest.sizeKb} KB: handed over: ${ways}; the call without a count ${times(({ plainMicros }) => plainMicros)}.`;
}

function micros(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} µs`;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

await main();
