import { fsyncSync } from 'node:fs';
import { loadavg } from 'node:os';
import { readFlags } from '../test/read-flags.ts';
import { Child, OTHER_CORE } from './child.ts';
import { type BatchReport, PARTS, type Part, type Times } from './commit-times.ts';
import { type Contender, startPassThrough, startTollgate } from './contenders.ts';
import { fillStore } from './fill-store.ts';
import { measureSync, type SyncTimes } from './machine.ts';
import { measure, type Surroundings, startLoad, WARM_UP_SECONDS, warmUp } from './measure.ts';
import { inScratchFolder, say } from './scratch.ts';
import { median } from './table.ts';
import { UPSTREAM_MODEL } from './traffic.ts';
import type { UpstreamHello } from './upstream.ts';

/**
 * How long a call waits for the gateway if its host takes some time. Every round measures the host directly, a bare Node proxy
 * and the gateway, and the disk's own syncs in between: the differences and the disk's figures are of the same minute.
 */
const { values } = readFlags({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
    'host-ms': { type: 'string', default: '20' },
    rows: { type: 'string', default: '100000' },
    connections: { type: 'string', default: '1,16' },
  },
});
const WARM_UP_CONNECTIONS = 64;
const WARM_UP_CALLS = 5_000;
const SHAPE = 'buffered';
const NAME_CHARS = 44;
/** About as long as between two commits of one connection. */
const PAUSE_MS = 10;
/** A hold and a settlement are two commits. What is allowed in addition to them, in milliseconds. */
const BAR = { syncs: 2, p50Ms: 0.5, p99Ms: 3 };

interface Round {
  readonly host: Times;
  readonly proxy: Times;
  readonly gateway: Times;
  readonly batches: BatchReport;
  readonly disk: SyncTimes;
  readonly pausedDisk: SyncTimes;
}

async function main(folder: string): Promise<void> {
  say(`load       ${loadavg()[0]!.toFixed(2)} before the run`);
  const { keys, upstream, contenders } = await startAll(folder);
  const around = (connections: number): Surroundings => ({ ...upstream, keys, connections });
  for (const one of Object.values(contenders))
    await warmUp(around(WARM_UP_CONNECTIONS), [one], [SHAPE], {
      calls: one === contenders.host ? 0 : WARM_UP_CALLS,
      seconds: WARM_UP_SECONDS,
    });
  for (const connections of values.connections.split(',').map(Number)) {
    const rounds: Round[] = [];
    for (let at = 0; at < Number(values.rounds); at++)
      rounds.push(await runRound(folder, around(connections), contenders));
    report(connections, rounds);
  }
  say(`load       ${loadavg()[0]!.toFixed(2)} after the run`);
}

interface Contenders {
  readonly host: Contender;
  readonly proxy: Contender;
  readonly gateway: Contender;
}

async function startAll(folder: string) {
  const accounts = fillStore({ folder, calls: Number(values.rows), accounts: 1_000 });
  const terms = { framesApart: false, delayMs: Number(values['host-ms']) };
  const { child, hello } = await Child.ready<UpstreamHello>(OTHER_CORE, 'upstream.ts', terms);
  const host: Contender = { name: 'host', child, port: hello.port, model: UPSTREAM_MODEL, headers: {} };
  const contenders: Contenders = {
    host,
    proxy: await startPassThrough(hello.port),
    gateway: await startTollgate({ folder, upstreamPort: hello.port, transport: 'own', timesBatches: true }),
  };
  const upstream = { upstream: child, load: await startLoad() };
  return { keys: accounts.map(({ secret }) => secret), upstream, contenders };
}

async function runRound(folder: string, around: Surroundings, contenders: Contenders): Promise<Round> {
  const seconds = Number(values.seconds);
  const host = await measure(around, contenders.host, SHAPE, seconds);
  const proxy = await measure(around, contenders.proxy, SHAPE, seconds);
  const disk = measureSync(folder, fsyncSync);
  const pausedDisk = measureSync(folder, fsyncSync, PAUSE_MS);
  await contenders.gateway.child.ask<BatchReport>('batches', 5_000);
  const gateway = await measure(around, contenders.gateway, SHAPE, seconds);
  const batches = await contenders.gateway.child.ask<BatchReport>('batches', 5_000);
  return { host, proxy, gateway, batches, disk, pausedDisk };
}

function report(connections: number, rounds: readonly Round[]): void {
  const of = (read: (round: Round) => number): number => median(rounds.map(read));
  const added = (which: 'proxy' | 'gateway', part: keyof Times): number =>
    of((round) => round[which][part] - round.host[part]);
  const bars = { p50: barOf('p50'), p99: barOf('p99') };
  function barOf(part: keyof SyncTimes): number {
    return BAR.syncs * of(({ disk }) => disk[part]) + (part === 'p50' ? BAR.p50Ms : BAR.p99Ms);
  }
  say(`\n${connections} ${connections === 1 ? 'connection' : 'connections'}, host of ${values['host-ms']} ms`);
  say(`${''.padEnd(NAME_CHARS)}    p50 ms    p99 ms`);
  const row = (name: string, p50: number, p99: number): void =>
    say(`${name.padEnd(NAME_CHARS)}${p50.toFixed(2).padStart(10)}${p99.toFixed(2).padStart(10)}`);
  row(
    'host',
    of(({ host }) => host.p50Ms),
    of(({ host }) => host.p99Ms),
  );
  row('added by a bare proxy', added('proxy', 'p50Ms'), added('proxy', 'p99Ms'));
  row('added by the gateway', added('gateway', 'p50Ms'), added('gateway', 'p99Ms'));
  row(
    'one sync of the disk',
    of(({ disk }) => disk.p50),
    of(({ disk }) => disk.p99),
  );
  row(
    `the same, ${PAUSE_MS} ms after the last one`,
    of(({ pausedDisk }) => pausedDisk.p50),
    of(({ pausedDisk }) => pausedDisk.p99),
  );
  row('the bar', bars.p50, bars.p99);
  say('\nwhat the time goes to (medians of the rounds)');
  const part = (name: Part, one: keyof Times): number => of(({ batches }) => batches.parts[name][one]);
  for (const name of Object.keys(PARTS) as Part[]) row(PARTS[name], part(name, 'p50Ms'), part(name, 'p99Ms'));
  const rest = of((round) => {
    const { hold, settle } = round.batches.parts;
    return round.gateway.p50Ms - round.host.p50Ms - hold.p50Ms - settle.p50Ms;
  });
  say(`${'the rest: HTTP, JSON, the way to the host'.padEnd(NAME_CHARS)}${rest.toFixed(2).padStart(10)}`);
  say(
    `${'operations in a commit'.padEnd(NAME_CHARS)}${of(({ batches }) => batches.operations / batches.batches)
      .toFixed(1)
      .padStart(10)}`,
  );
  const isMet = added('gateway', 'p50Ms') <= bars.p50 && added('gateway', 'p99Ms') <= bars.p99;
  say(`the bar is ${isMet ? 'reached' : 'MISSED'}`);
}

await inScratchFolder(main);
