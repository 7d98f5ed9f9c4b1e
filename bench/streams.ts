import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Child, OTHER_CORE } from './child.ts';
import { startTollgate } from './contenders.ts';
import { fillStore } from './fill-store.ts';
import type { PacedTerms } from './paced-upstream.ts';
import { inScratchFolder, say } from './scratch.ts';
import type { StreamLoad, StreamLoadResult } from './stream-load.ts';
import type { BooksReport } from './tollgate.ts';
import { CATALOG_MODEL, requestBody, UPSTREAM_MODEL } from './traffic.ts';
import type { UpstreamHello } from './upstream.ts';

/** Many streams at once, each at the pace of a model: how much later an event arrives through the gateway. */
const { values } = parseArgs({
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
  const gateway = await startTollgate({ folder, upstreamPort: upstream.hello.port, transport: 'own' });
  const ask = (port: number, model: string, count: number): Promise<StreamLoadResult> => {
    const body = requestBody(model, 'streamed');
    const asked: StreamLoad = { port, body, keys, streams: count, openingMs: OPENING_MS };
    return load.ask(asked, (seconds + 60) * 1000);
  };
  const direct = await ask(upstream.hello.port, UPSTREAM_MODEL, streams);
  // Just before: a gateway that was idle in between would have given back memory and compiled code.
  await ask(gateway.port, CATALOG_MODEL, WARM_UP_STREAMS);
  const before = await gateway.child.ask<BooksReport>('verify', VERIFY_MS_MAX);
  const cpuBefore = gateway.child.cpuMs();
  const through = await ask(gateway.port, CATALOG_MODEL, streams);
  const cpuMs = gateway.child.cpuMs() - cpuBefore;
  const after = await gateway.child.ask<BooksReport>('verify', VERIFY_MS_MAX);
  report(direct, through, cpuMs, after.receipts - before.receipts, after.violations.length + after.openHolds);
  say(`load       ${loadavg()[0]!.toFixed(2)} after the run`);
}

function report(direct: StreamLoadResult, through: StreamLoadResult, cpuMs: number, receipts: number, faults: number) {
  say(`\n${streams} streams, ${perSecond} events a second each, for ${seconds} s`);
  say('                       events    p50 ms    p99 ms    max ms');
  for (const [name, one] of Object.entries({ 'host, directly': direct, 'through the gateway': through })) {
    const figures = [one.p50Ms, one.p99Ms, one.maxMs].map((ms) => ms.toFixed(2).padStart(10)).join('');
    say(`${name.padEnd(20)}${String(one.events).padStart(9)}${figures}`);
  }
  const addedMs = through.p99Ms - direct.p99Ms;
  const isWhole = through.finished === streams && through.events === streams * events;
  const isExact = receipts === streams && faults === 0;
  say(`gateway    ${((cpuMs * 1000) / through.events).toFixed(1)} µs of CPU for each event`);
  say(`streams    ${through.finished} of ${streams} whole, ${through.events} of ${streams * events} events`);
  say(`receipts   ${receipts}, ${faults} open holds or violations: ${isExact ? 'exact' : 'WRONG'}`);
  say(
    `bar        ${addedMs.toFixed(1)} ms added at p99, bar ${BAR_P99_MS}: ${addedMs <= BAR_P99_MS ? 'reached' : 'MISSED'}`,
  );
  if (through.firstFailure !== null) say(`failure    ${through.firstFailure}`);
  if (!isWhole || !isExact) process.exitCode = 1;
}

await inScratchFolder(main);
