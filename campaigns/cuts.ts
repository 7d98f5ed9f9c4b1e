import { TranslatedStream } from '../src/gateway/translate.ts';
import { SseFramer } from '../src/kit/sse.ts';
import { LIMITS } from '../src/limits.ts';
import type { Bill } from '../src/wires/bill.ts';
import { FrameMemory } from '../src/wires/frames/frame-memory.ts';
import { WIRES } from '../src/wires/registry.ts';
import type { StreamRelay } from '../src/wires/wire.ts';
import { readFlags } from '../test/read-flags.ts';
import { type AnyRecording, allRecordings } from '../test/wire-recordings.ts';

/**
 * Cuts every recorded stream in two at every byte, under every client wire. The client must get the same bytes, even if
 * earlier streams, with the same id or another, taught the gateway what the frames look like.
 */

const CLIENTS = ['chat', 'messages', 'responses'] as const;
type Client = (typeof CLIENTS)[number];
const USAGE = {
  freshTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
};
const BILL: Bill = { usage: USAGE, costNanousd: 1n, costUsd: 1e-9, components: null };

function open(client: Client, { wire, quirks }: AnyRecording, memory: Memory): StreamRelay {
  const terms = {
    catalogModel: 'any',
    requestId: 'req_cut',
    createdS: 1_790_000_000,
    nowS: () => 1_790_000_000,
    wantsUsageFrame: true,
    hideReasoning: false,
    request: { model: 'any', input: 'Hello', messages: [] },
    quirks,
    outputLimit: 4096,
    parseEveryFrame: memory === 'off',
  };
  if (client === wire) return WIRES[wire].relay.stream!.mend(typeof memory === 'string' ? terms : { ...terms, memory });
  return new TranslatedStream(WIRES[client].hub!.client!, WIRES[wire].hub!.upstream!, terms, quirks);
}

/** Ids that the host left out are generated for each stream. */
const MADE_UP = /\b(call|toolu|fc)_[A-Za-z0-9]{24}\b/g;

/** The same stream under another id of the same length; the recording itself if it has none. */
function renamed(body: Buffer): Buffer {
  const text = body.toString('latin1');
  const id = /"id":"([\w-]+)\w"/.exec(text)?.[1];
  return id === undefined ? body : Buffer.from(text.replace(new RegExp(`"${id}\\w"`, 'g'), `"${id}_"`), 'latin1');
}

/** Frame memory shared with earlier streams, kept for one stream, or off. */
type Memory = FrameMemory | 'own' | 'off';

function relay(client: Client, recording: AnyRecording, pieces: readonly Buffer[], memory: Memory): string {
  const stream = open(client, recording, memory);
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  const written: string[] = [];
  const take = (frame: Parameters<StreamRelay['frame']>[0]): void => {
    const bytes = stream.frame(frame);
    if (bytes !== null) written.push(bytes.toString());
  };
  const takeRun = (bytes: Buffer, from: number): number => {
    const run = stream.repeated?.(bytes, from) ?? null;
    if (run === null) return from;
    written.push(run.bytes.toString());
    return run.end;
  };
  for (const piece of pieces) framer.push(piece, take, takeRun);
  framer.end(take);
  const ended = stream.error === null && (stream.terminal || stream.mayEndHere);
  written.push(ended ? stream.closing(BILL) : `broken off: ${stream.error?.kind ?? 'in the middle'}`);
  return written.join('').replace(MADE_UP, '$1_made_up');
}

function main(): number {
  const { values } = readFlags({
    options: { stride: { type: 'string', default: '1' }, 'no-frame-memory': { type: 'boolean', default: false } },
  });
  const isOff = values['no-frame-memory'];
  const stride = Number(values.stride);
  const { recordings, hasCorpus } = allRecordings();
  if (!hasCorpus) process.stdout.write('../shared/corpus is not here: only the project’s own recordings are cut.\n');
  let cuts = 0;
  let faults = 0;
  let recalled = 0;
  for (const recording of recordings.filter(({ mode, answers }) => mode === 'stream' && answers === 1)) {
    for (const client of CLIENTS) {
      const bodies = [recording.body, renamed(recording.body)];
      const wholes = bodies.map((body) => relay(client, recording, [body], isOff ? 'off' : 'own'));
      const memory = new FrameMemory();
      for (let at = 1; at < recording.body.length; at += stride) {
        const body = bodies[cuts % 2]!;
        const whole = wholes[cuts++ % 2]!;
        if (relay(client, recording, [body.subarray(0, at), body.subarray(at)], isOff ? 'off' : memory) === whole)
          continue;
        faults++;
        process.stdout.write(
          `${recording.wire} ${recording.id} for a client of ${client}: differs when cut at ${at}\n`,
        );
        break;
      }
      recalled += memory.used;
    }
  }
  process.stdout.write(`${cuts} cuts, ${recalled} times something was remembered, ${faults} streams that differ\n`);
  return faults === 0 ? 0 : 1;
}

process.exitCode = main();
