import { scanJson } from '../src/json/json.ts';
import { type SseFrame, SseFramer } from '../src/kit/sse.ts';
import { LIMITS } from '../src/limits.ts';
import { mendStream } from '../src/wires/chat/mend.ts';
import { peek } from '../src/wires/chat/peek.ts';
import { spliceRequest } from '../src/wires/chat/splice-request.ts';
import { spliceResponse } from '../src/wires/chat/splice-response.ts';
import type { RelayTerms, StreamRelay } from '../src/wires/wire.ts';
import { BILL, RELAY_TERMS, UPSTREAM_TERMS } from '../test/chat-wire.ts';

/** What the chat wire costs by itself, in microseconds of CPU: per frame of a stream, per request, per answer. */

const WORDS = ['The', ' toll', ' bridge', ' of', ' Brücke', '.\n', ' "opens"', ' at', ' six', ','];
const FRAMES = 300;
const ROUNDS = 60;
const RUNS = 20;

interface StreamShape {
  readonly model?: string;
  readonly delta?: (words: string) => object;
  readonly more?: (at: number) => object;
  readonly answers?: number;
}

/** Streams as hosts send them; each needs other repairs. */
const STREAMS: Readonly<Record<string, StreamShape>> = {
  'all right as it is': {},
  'another model name': { model: 'bridge-2026-05-01' },
  'another name, padded': { model: 'bridge-2026-05-01', more: (at) => ({ obfuscation: 'x'.repeat(at % 11) }) },
  'a trace under one name': { model: 'thinker', delta: (words) => ({ reasoning: words }) },
  'tool arguments': { delta: (words) => ({ tool_calls: [{ index: 0, function: { arguments: words } }] }) },
  'three answers': { model: 'bridge-2026-05-01', answers: 3 },
  'content in parts': { delta: (words) => ({ content: [{ type: 'text', text: words }] }) },
  'a new time on every chunk': { more: (at) => ({ created: 1_790_000_000 + at }) },
};

function streamOf({ model = RELAY_TERMS.catalogModel, delta, more, answers = 1 }: StreamShape): Buffer {
  const frame = (choice: object, at: number, extra: object = {}): string => {
    const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_790_000_000, model };
    const chunk = { ...head, service_tier: 'default', system_fingerprint: 'fp_1', choices: [choice], usage: null };
    return `data: ${JSON.stringify({ ...chunk, ...more?.(at), ...extra })}\n\n`;
  };
  const choice = (members: object, index: number, finish: string | null = null): object => ({
    index,
    delta: members,
    logprobs: null,
    finish_reason: finish,
  });
  const indexes = Array.from({ length: answers }, (_, index) => index);
  const texts = indexes.map((index) => frame(choice({ role: 'assistant', content: '' }, index), 0));
  for (let at = 0; at < FRAMES; at++) {
    const words = WORDS[at % WORDS.length]!;
    texts.push(frame(choice(delta?.(words) ?? { content: words }, at % answers), at));
  }
  texts.push(...indexes.map((index) => frame(choice({}, index, 'stop'), FRAMES)), 'data: [DONE]\n\n');
  return Buffer.from(texts.join(''));
}

function relayAll(open: ((terms: RelayTerms) => StreamRelay) | null, bytes: Buffer): number {
  const relay = open?.(RELAY_TERMS);
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  const onFrame = (frame: SseFrame) => relay?.frame(frame);
  framer.push(bytes, onFrame, (from, at) => relay?.repeated?.(from, at)?.end ?? at);
  relay?.closing(BILL);
  return FRAMES;
}

/** Microseconds of CPU per unit of work, the best of several runs: others may be using the machine. */
function cpuMicros(work: () => number, rounds = ROUNDS): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const start = process.cpuUsage();
    let units = 0;
    for (let round = 0; round < rounds; round++) units += work();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / units);
  }
  return best;
}

function print(name: string, ...figures: readonly string[]): void {
  process.stdout.write(`${name.padEnd(28)}${figures.map((figure) => figure.padStart(12)).join('')}\n`);
}

function printStreams(): void {
  print('µs per frame', 'framing', 'relayed');
  for (const [name, shape] of Object.entries(STREAMS)) {
    const bytes = streamOf(shape);
    const figures = [null, mendStream].map((open) => cpuMicros(() => relayAll(open, bytes)).toFixed(2));
    print(name, ...figures);
  }
}

const BODY_LIMITS = {
  depthMax: LIMITS.jsonDepthMax,
  nodesMax: LIMITS.jsonNodesMax,
  keysMax: LIMITS.jsonKeysMax,
  numberDigitsMax: LIMITS.jsonNumberDigitsMax,
  keyBytesMax: LIMITS.jsonKeyBytesMax,
};

function printRequests(): void {
  const body = Buffer.from(
    JSON.stringify({
      model: 'bridge',
      stream: true,
      max_tokens: 100,
      temperature: 0.2,
      user: 'ada',
      messages: [
        { role: 'system', content: 'You keep the gate. '.repeat(50) },
        { role: 'user', content: 'What does the context cost? '.repeat(34) },
      ],
    }),
  );
  const terms = { ...UPSTREAM_TERMS, hostModel: 'bridge-2026-05-01', outputLimit: 100 };
  const once = (work: () => unknown) => {
    return cpuMicros(() => {
      for (let at = 0; at < 100; at++) work();
      return 100;
    }, 20).toFixed(2);
  };
  const text = scanJson(body, BODY_LIMITS);
  const peeked = peek(text);
  print(`\nµs per request of ${body.length} bytes`);
  print(
    'scan (kit)',
    once(() => scanJson(body, BODY_LIMITS)),
  );
  print(
    'peek',
    once(() => peek(text)),
  );
  const all = () => {
    const scanned = scanJson(body, BODY_LIMITS);
    return spliceRequest(scanned, peek(scanned), terms);
  };
  print(
    'write, text already walked',
    once(() => spliceRequest(text, peeked, terms)),
  );
  print('scan, peek and write', once(all));
  const message = { role: 'assistant', content: 'Two euros. '.repeat(20), refusal: null };
  const usage = { prompt_tokens: 400, completion_tokens: 80, total_tokens: 480 };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  const answer = Buffer.from(
    JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'x', choices, usage }),
  );
  print(
    'read and write an answer',
    once(() => spliceResponse(answer, RELAY_TERMS).write(BILL)),
  );
}

printStreams();
printRequests();
