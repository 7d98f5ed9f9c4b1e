import { loadavg } from 'node:os';
import { readFlags } from '../test/read-flags.ts';
import { Child, OTHER_CORE } from './child.ts';
import { type Contender, startPassThrough, startTollgate } from './contenders.ts';
import { fillStore } from './fill-store.ts';
import type { PacedTerms } from './paced-upstream.ts';
import { inScratchFolder, say } from './scratch.ts';
import type { StreamLoad, StreamLoadResult } from './stream-load.ts';
import type { BooksReport } from './tollgate.ts';
import { requestBody, UPSTREAM_MODEL } from './traffic.ts';
import type { UpstreamHello } from './upstream.ts';

/** Many streams at once, each at the pace of a model: how much later an event arrives through the gateway. */
const { values } = readFlags({
  options: {
    streams: { type: 'string', default: '1000' },
    'events-per-second': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
  },
});
const streams = Number(values.streams);
const perSecond = Number(values['events-per-second']);
const seconds = Number(values.seconds);
const events = perSecond * seconds;
const BAR_P99_MS = 15;
const OPENING_MS = 2_000;
const WARM_UP_STREAMS = 200;
const VERIFY_MS_MAX = 120_000;

async function main(folder: string): Promise<void> {
  say(`load       ${loadavg()[0]!.toFixed(2)} before the run`);
  const accounts = fillStore({ folder, calls: 1_000, accounts: 1_000 });
  const keys = accounts.map(({ secret }) => secret);
  const terms: PacedTerms = { events, intervalMs: 1000 / perSecond };
  const upstream = await Child.ready<UpstreamHello>(OTHER_CORE, 'paced-upstream.ts', terms);
  const load = (await Child.ready(OTHER_CORE, 'stream-load.ts', {})).child;
  const proxy = await startPassThrough(upstream.hello.port);
  const gateway = await startTollgate({ folder, upstreamPort: upstream.hello.port, transport: 'own' });
  const ask = async (port: number, model: string, count: number): Promise<Measured> => {
    const body = requestBody(model, 'streamed');
    const asked: StreamLoad = { port, body, keys, streams: count, events, openingMs: OPENING_MS };
    const [startMs, cpuBeforeMs] = [performance.now(), upstream.child.cpuMs() + load.cpuMs()];
    const result = await load.ask<StreamLoadResult>(asked, (seconds + 60) * 1000);
    const cpuMs = upstream.child.cpuMs() + load.cpuMs() - cpuBeforeMs;
    return { ...result, otherCore: cpuMs / (performance.now() - startMs) };
  };
  const through = async ({ child, port, model }: Contender): Promise<MeasuredThrough> => {
    // Just before: a process that was idle in between would have given back memory and compiled code.
    await ask(port, model, WARM_UP_STREAMS);
    const cpuBeforeMs = child.cpuMs();
    const result = await ask(port, model, streams);
    return { ...result, cpuMicros: ((child.cpuMs() - cpuBeforeMs) * 1000) / result.events };
  };
  const direct = await ask(upstream.hello.port, UPSTREAM_MODEL, streams);
  const bare = await through(proxy);
  const before = await gateway.child.ask<BooksReport>('verify', VERIFY_MS_MAX);
  const metered = await through(gateway);
  const after = await gateway.child.ask<BooksReport>('verify', VERIFY_MS_MAX);
  printDelays({ 'host, directly': direct, 'bare Node proxy': bare, 'through the gateway': metered });
  printBars(direct, bare, metered);
  const receipts = after.receipts - before.receipts - WARM_UP_STREAMS;
  printBooks(metered, receipts, after.violations.length + after.openHolds);
  say(`load       ${loadavg()[0]!.toFixed(2)} after the run`);
}

interface Measured extends StreamLoadResult {
  /** How busy host and load kept their core, 0 to 1: near 1, the delays are theirs. */
  readonly otherCore: number;
}

interface MeasuredThrough extends Measured {
  /** For each event. */
  readonly cpuMicros: number;
}

function printDelays(rows: Readonly<Record<string, Measured | MeasuredThrough>>): void {
  say(`\n${streams} streams, ${perSecond} events a second each, for ${seconds} s`);
  say('                       events    p50 ms    p99 ms    max ms  other core    CPU µs');
  for (const [name, one] of Object.entries(rows)) {
    const figures = [one.p50Ms, one.p99Ms, one.maxMs].map((ms) => ms.toFixed(2).padStart(10)).join('');
    const cpu = 'cpuMicros' in one ? one.cpuMicros.toFixed(1).padStart(10) : '';
    const otherCore = `${(one.otherCore * 100).toFixed(0)} %`.padStart(12);
    say(`${name.padEnd(20)}${String(one.events).padStart(9)}${figures}${otherCore}${cpu}`);
  }
}

/** The proxy does nothing but pass bytes on: what it adds on this machine, the gateway can hardly avoid. */
function printBars(direct: Measured, bare: Measured, metered: Measured): void {
  const addedMs = metered.p99Ms - direct.p99Ms;
  const verdict = addedMs <= BAR_P99_MS ? 'reached' : 'MISSED';
  const bareMs = (bare.p99Ms - direct.p99Ms).toFixed(1);
  say(
    `bar        ${addedMs.toFixed(1)} ms added at p99, bar ${BAR_P99_MS}: ${verdict}; the bare proxy adds ${bareMs} ms`,
  );
}

function printBooks(metered: StreamLoadResult, receipts: number, faults: number): void {
  const isWhole = metered.finished === streams && metered.events === streams * events;
  const isExact = receipts === streams && faults === 0;
  say(`streams    ${metered.finished} of ${streams} whole, ${metered.events} of ${streams * events} events`);
  say(`receipts   ${receipts}, ${faults} open holds or violations: ${isExact ? 'exact' : 'WRONG'}`);
  if (metered.firstFailure !== null) say(`failure    ${metered.firstFailure}`);
  if (!isWhole || !isExact) process.exitCode = 1;
}

await inScratchFolder(main);
