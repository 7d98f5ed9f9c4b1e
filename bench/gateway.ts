import { cpSync, mkdirSync } from 'node:fs';
import { release } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { workersFor } from '../src/config/workers.ts';
import { canSharePort } from '../src/kit/shared-port.ts';
import { readFlags } from '../test/read-flags.ts';
import { Child, canPin, MEASURED_CORE, OTHER_CORE } from './child.ts';
import type { CollectorHello } from './collector.ts';
import {
  AGAIN,
  type Contender,
  OF_CHECKOUT,
  startOtherTollgate,
  startPassThrough,
  startPassThroughs,
  startPortkey,
  startTollgate,
  startTollgateAgain,
  startWorkers,
  TRACED,
} from './contenders.ts';
import { fillStore } from './fill-store.ts';
import { INSTALLED_GATEWAYS, startInstalled } from './installed-gateways.ts';
import { describeLoad, describeMachine } from './machine.ts';
import { checkAnswer, measure, type Surroundings, startLoad, WARM_UP_SECONDS, warmUp } from './measure.ts';
import { PureWork } from './pure-work.ts';
import { inScratchFolder, say } from './scratch.ts';
import {
  joinByName,
  lowest,
  median,
  type Round,
  type Row,
  ratio,
  ratioAtFullSpeed,
  ratioText,
  renderTable,
} from './table.ts';
import type { BooksReport, TollgateTerms } from './tollgate.ts';
import { SHAPES, type Shape, STREAM_CHUNKS, UPSTREAM_MODEL } from './traffic.ts';
import type { UpstreamHello } from './upstream.ts';

const { values } = readFlags({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    rows: { type: 'string' },
    accounts: { type: 'string', default: '1000' },
    connections: { type: 'string', default: '64' },
    only: { type: 'string', default: '' },
    against: { type: 'string', multiple: true, default: [] },
    times: { type: 'string', default: '1' },
    noise: { type: 'boolean', default: false },
    'frames-apart': { type: 'boolean', default: false },
    workers: { type: 'string' },
    'warm-up': { type: 'string', default: String(WARM_UP_SECONDS) },
    tracing: { type: 'boolean', default: false },
    'all-cores': { type: 'boolean', default: false },
  },
});
// Many short rounds, so that other guests of the machine, which disturb it for seconds, disturb all contenders alike.
const rounds = Number(values.rounds ?? (values.quick ? 5 : 31));
const seconds = Number(values.seconds ?? 0.5);
const rows = Number(values.rows ?? (values.quick ? 100_000 : 1_000_000));
const warmUpTerms = { calls: values.quick ? 1_000 : 5_000, seconds: Number(values['warm-up']) };
const connections = Number(values.connections);
/** Each time with new processes: V8 compiles the same code differently in each, so that one alone may be lucky. */
const times = Number(values.times);
/** Numbers of workers to compare, on all cores; null compares with other gateways. */
const workerCounts = values.workers === undefined ? null : values.workers.split(',').map(Number);
/** Load, upstream and contenders share all cores, as on a machine that does nothing else. */
const onAllCores = values['all-cores'];
const measuredCore = onAllCores ? null : MEASURED_CORE;
const otherCore = onAllCores ? null : OTHER_CORE;
const BOOKS_MS_MAX = 120_000;
const CORE_SPEED_MS_MAX = 10_000;
/** The ratio to the published gateway that this one has to reach. */
const TIMES_PORTKEY = 6;

async function main(): Promise<void> {
  const all: Row[] = [];
  for (let time = 1; time <= times; time++) {
    if (times > 1) say(`\ntime       ${time} of ${times}, with new processes`);
    await inScratchFolder(async (folder) => {
      const measured = await measureOnce(folder, time);
      all.push(...measured);
      compareCheckouts(measured);
    });
  }
  if (times === 1) return;
  say(`\nall        ${times} times together`);
  const together = joinByName(all);
  compareCheckouts(together);
  compareWithPortkey(together);
}

/** Measures every contender, and prints and returns their figures. Those of different numbers of workers are compared here too. */
async function measureOnce(folder: string, time: number): Promise<Row[]> {
  say(`machine    ${JSON.stringify({ kernel: release(), ...describeMachine(folder) })}`);
  say(`store      ${rows} settled calls, ${values.accounts} accounts with a key each`);
  const first = storeFolder(folder, 'own');
  mkdirSync(first);
  const accounts = fillStore({ folder: first, calls: rows, accounts: Number(values.accounts) });
  for (const copy of copiesOfTheStore()) cpSync(first, storeFolder(folder, copy), { recursive: true });
  const keys = accounts.map(({ secret }) => secret);
  const { around, contenders: started } = await (workerCounts === null
    ? startAll(folder, keys, time)
    : startWithWorkers(folder, keys, workerCounts));
  const contenders = await answeringRightly(started, keys);
  const gateways: Gateway[] = [];
  for (const contender of contenders.filter(isTollgate)) {
    const before = await contender.child.ask<BooksReport>('verify', BOOKS_MS_MAX);
    gateways.push({ contender, before, answered: 0 });
  }
  const warm = await warmUp(around, contenders, SHAPES, warmUpTerms);
  for (const gateway of gateways) gateway.answered += warm.get(gateway.contender)!;
  say(`load       ${describeLoad()} after the warm-up`);
  const pureWork = workerCounts === null ? null : new PureWork(Math.max(...workerCounts));
  const measured = await runRounds(around, contenders, pureWork);
  say(`load       ${describeLoad()} after the last round`);
  for (const shape of SHAPES) {
    const ofShape = measured.filter((row) => row.shape === shape);
    const yardsticks = workerCounts === null ? ofShape.filter((row) => !isTollgate(row)) : [];
    say(`\n${shape}\n${renderTable(ofShape, yardsticks)}`);
  }
  for (const { contender, before, answered } of gateways) {
    const after = await contender.child.ask<BooksReport>('verify', BOOKS_MS_MAX);
    report(contender.name, before, after, answered + answeredBy(contender.child, measured));
  }
  compareWithPortkey(measured);
  if (pureWork === null) return measured;
  for (const shape of SHAPES) {
    compareWorkers(shape, measured.filter(isTollgate));
    compareWorkers(
      shape,
      measured.filter((row) => !isTollgate(row)),
    );
  }
  say(
    `cores      ${pureWork.copies} copies of a pure computation do ${pureWork.gain.toFixed(2)} times the work of one in the same time`,
  );
  return measured;
}

function compareCheckouts(measured: readonly Row[]): void {
  for (const shape of SHAPES) {
    const [own, ...others] = measured.filter((row) => row.shape === shape && isTollgate(row));
    const checkouts = others.filter(({ name }) => name.startsWith(OF_CHECKOUT));
    for (const other of checkouts) compare('against', own!, other);
    for (const [at, other] of checkouts.entries()) if (at > 0) compare('between', checkouts[at - 1]!, other);
    for (const other of others.filter(({ name }) => name === AGAIN)) compare('noise', own!, other);
    for (const other of others.filter(({ name }) => name === TRACED)) compare('untraced', own!, other);
  }
}

/** Throws if a contender that must take part gives a wrong answer. */
async function answeringRightly(contenders: readonly Contender[], keys: readonly string[]): Promise<Contender[]> {
  const right: Contender[] = [];
  for (const contender of contenders) {
    try {
      for (const shape of SHAPES) await checkAnswer(contender, shape, (contender.keys ?? keys)[0]!, STREAM_CHUNKS);
      right.push(contender);
    } catch (error) {
      if (contender.mayBeLeftOut === undefined) throw error;
      say(`${(error as Error).message}\n${contender.name} is left out`);
    }
  }
  return right;
}

/** A contender whose receipts are counted. */
interface Gateway {
  readonly contender: Contender;
  readonly before: BooksReport;
  answered: number;
}

function isTollgate({ name }: { readonly name: string }): boolean {
  return name.startsWith('Tollgate');
}

async function startAll(folder: string, keys: readonly string[], time: number) {
  const terms = { framesApart: values['frames-apart'] };
  const upstream = await Child.ready<UpstreamHello>(otherCore, 'upstream.ts', terms);
  const upstreamPort = upstream.hello.port;
  const load = await startLoad(otherCore);
  const direct: Contender = {
    name: 'upstream, directly',
    child: upstream.child,
    port: upstreamPort,
    model: UPSTREAM_MODEL,
    headers: {},
  };
  const contenders = [
    direct,
    await startPassThrough(upstreamPort, measuredCore),
    ...(await startTollgates(folder, upstreamPort, time)),
    ...(await startOthers(folder, upstreamPort)),
  ].filter(({ name }) => name.startsWith('Tollgate') || name.includes(values.only));
  const around: Surroundings = { upstream: upstream.child, load, keys, connections };
  return { around, contenders };
}

/** Gateways of others, and nginx. */
async function startOthers(folder: string, upstreamPort: number): Promise<Contender[]> {
  const portkey = await startPortkey(upstreamPort, measuredCore);
  if (portkey === null) say('portkey    could not be installed, so there is no row of it');
  const contenders = portkey === null ? [] : [portkey];
  for (const gateway of INSTALLED_GATEWAYS) {
    const started = await startInstalled(gateway, { upstreamPort, folder, core: measuredCore });
    if (typeof started !== 'string') contenders.push(started);
    else say(`${gateway.command.padEnd(10)} ${started}, so there is no row of it`);
  }
  return contenders;
}

/** Gateways that differ in their workers; load and upstream run on the same cores. */
async function startWithWorkers(folder: string, keys: readonly string[], counts: readonly number[]) {
  const terms = { framesApart: values['frames-apart'] };
  const upstream = await Child.ready<UpstreamHello>(null, 'upstream.ts', terms);
  const contenders: Contender[] = [];
  // What another worker brings on these cores to a proxy whose threads share nothing. First, because a gateway's threads
  // that have nothing to do for half a minute give back memory, and compile their code again afterwards.
  for (const workers of counts) contenders.push(await startPassThroughs(upstream.hello.port, workers));
  for (const workers of counts) {
    const store = { folder: storeFolder(folder, String(workers)), transport: 'own' } as const;
    contenders.push(await startWorkers({ ...store, upstreamPort: upstream.hello.port, workers }));
  }
  const around: Surroundings = { upstream: upstream.child, load: await startLoad(null), keys, connections };
  return { around, contenders };
}

function copiesOfTheStore(): string[] {
  if (workerCounts !== null) return workerCounts.map(String);
  if (onAllCores) return [];
  return [values.noise ? 'again' : 'node', ...(values.tracing ? ['traced'] : [])];
}

/**
 * One for each transport, with stores of their own that are filled alike; on all cores, one with the default workers.
 * Every second time they start in reverse, so that the order of starting favours none.
 */
async function startTollgates(folder: string, upstreamPort: number, time: number): Promise<Contender[]> {
  if (onAllCores) {
    const workers = await workersFor('auto', canSharePort);
    return [await startWorkers({ folder: storeFolder(folder, 'own'), upstreamPort, transport: 'own', workers })];
  }
  const termsOf = (store: string) => ({ folder: storeFolder(folder, store), upstreamPort, transport: 'own' }) as const;
  const starts = [
    () => startTollgate(termsOf('own')),
    ...values.against.map((checkout) => () => startAgainst(resolve(checkout), folder, upstreamPort)),
    // The noise is that of a comparison of two checkouts, which is about the usual transport.
    values.noise
      ? () => startTollgateAgain(termsOf('again'))
      : () => startTollgate({ ...termsOf('node'), transport: 'node' }),
    ...(values.tracing ? [() => startTraced(termsOf('traced'))] : []),
  ];
  const isReverse = time % 2 === 0;
  const contenders: Contender[] = [];
  for (const start of isReverse ? starts.reverse() : starts) contenders.push(await start());
  return isReverse ? contenders.reverse() : contenders;
}

async function startTraced(terms: TollgateTerms): Promise<Contender> {
  const { hello } = await Child.ready<CollectorHello>(OTHER_CORE, 'collector.ts', {});
  return startTollgate({ ...terms, tracesTo: `http://127.0.0.1:${hello.port}` });
}

/** A checkout of another commit, with its dependencies installed. */
async function startAgainst(checkout: string, scratch: string, upstreamPort: number): Promise<Contender> {
  const folder = join(scratch, `against-${basename(checkout)}`);
  mkdirSync(folder);
  const other = (await import(join(checkout, 'bench/fill-store.ts'))) as { readonly fillStore: typeof fillStore };
  const accounts = other.fillStore({ folder, calls: rows, accounts: Number(values.accounts) });
  const keys = accounts.map(({ secret }) => secret);
  return startOtherTollgate(checkout, { folder, upstreamPort, transport: 'own' }, keys);
}

function storeFolder(folder: string, name: string): string {
  return join(folder, name);
}

/** Interleaved in changing order, so that whatever else the machine does falls on all alike. */
async function runRounds(
  around: Surroundings,
  contenders: readonly Contender[],
  pureWork: PureWork | null,
): Promise<Row[]> {
  const all = SHAPES.flatMap((shape) => contenders.map((contender) => ({ contender, shape, rounds: [] as Round[] })));
  const core = (await Child.ready(measuredCore, 'core-speed.ts', {})).child;
  const compute = (): Promise<number> => core.ask<number>('compute', CORE_SPEED_MS_MAX);
  const computedMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await pureWork?.runRound();
    let beforeMs = await compute();
    for (const row of inOrderOf(round, all)) {
      const figures = await measure(around, row.contender, row.shape, seconds);
      const afterMs = await compute();
      row.rounds.push({ ...figures, coreMs: Math.max(beforeMs, afterMs) });
      computedMs.push(afterMs);
      beforeMs = afterMs;
    }
  }
  await core.stop();
  say(`core       ${speedsOf(computedMs)}`);
  return all.map(({ contender, shape, rounds }) => ({ name: contender.name, child: contender.child, shape, rounds }));
}

/** Every other round begins with the next one, and the round after it goes backwards, so that none always follows the same. */
function inOrderOf<T>(round: number, all: readonly T[]): T[] {
  const first = Math.floor(round / 2) % all.length;
  const order = [...all.slice(first), ...all.slice(0, first)];
  return round % 2 === 0 ? order : order.reverse();
}

/** How fast the measured core was after each round, by the time of the same computation. */
function speedsOf(computedMs: readonly number[]): string {
  const [fastest, slowest] = [Math.min(...computedMs), Math.max(...computedMs)];
  const times = `${fastest.toFixed(2)} to ${slowest.toFixed(2)} ms, in the middle ${median(computedMs).toFixed(2)}`;
  return `a fixed computation took ${times}: at its fastest the core was ${(slowest / fastest).toFixed(2)} times as fast as at its slowest`;
}

function answeredBy(child: Child, measured: readonly Row[]): number {
  return measured
    .filter((row) => row.child === child)
    .flatMap((row) => row.rounds)
    .reduce((sum, { answered }) => sum + answered, 0);
}

function report(name: string, before: BooksReport, after: BooksReport, answered: number): void {
  const receipts = after.receipts - before.receipts;
  const isExact = receipts === answered && after.openHolds === 0 && after.violations.length === 0;
  say(
    `\n${name}\nreceipts   ${receipts} new in the store, ${answered} calls answered: ${isExact ? 'equal' : 'DIFFERENT'}`,
  );
  say(`books      ${after.receipts} receipts, ${after.openHolds} open holds, ${after.violations.length} violations`);
  if (!isExact) process.exitCode = 1;
}

/** The required ratio is for one core, and for our own transport. */
function compareWithPortkey(measured: readonly Row[]): void {
  for (const row of onAllCores ? [] : measured.filter(isTollgate)) {
    const portkey = measured.find(({ name, shape }) => shape === row.shape && name.includes('portkey'));
    if (portkey === undefined) continue;
    const times = ratio(row, portkey, ({ perSecond }) => perSecond);
    const cpu = ratio(portkey, row, ({ cpuMicros }) => cpuMicros);
    const isReached = times >= TIMES_PORTKEY ? 'reached' : 'MISSED';
    const verdict = row.name.includes('node transport') ? '' : `; the bar of ${TIMES_PORTKEY} is ${isReached}`;
    say(
      `bar        ${row.name}, ${row.shape}: ${times.toFixed(1)} times the requests/s of ${portkey.name}, ` +
        `${cpu.toFixed(1)} times fewer CPU a request${verdict}` +
        atFullSpeed(row, portkey),
    );
  }
}

function compare(title: string, row: Row, other: Row): void {
  const times = ratioText(row, other, ({ perSecond }) => perSecond);
  const cpu = ratioText(row, other, ({ cpuMicros }) => cpuMicros);
  const atBest = lowest(row, ({ cpuMicros }) => cpuMicros) / lowest(other, ({ cpuMicros }) => cpuMicros);
  say(
    `${title.padEnd(10)} ${row.name} : ${other.name}, ${row.shape}: ${times} times the requests/s, ${cpu} times the CPU a request, ` +
      `${atBest.toFixed(3)} times in each one's best rounds${atFullSpeed(row, other)}`,
  );
}

/** Neighbours slow a core down for seconds, and not every contender by the same factor. */
function atFullSpeed(row: Row, other: Row): string {
  const times = ratioAtFullSpeed(row, other, ({ perSecond }) => perSecond);
  const cpu = ratioAtFullSpeed(row, other, ({ cpuMicros }) => cpuMicros);
  if (times === null || cpu === null) return '';
  return `; in the ${times.rounds} rounds with the core at full speed: ${times.ratio.toFixed(3)} times the requests/s, ${cpu.ratio.toFixed(3)} times the CPU`;
}

function compareWorkers(shape: Shape, measured: readonly Row[]): void {
  const [fewest, ...others] = measured.filter((row) => row.shape === shape);
  for (const row of others) {
    const times = ratio(row, fewest!, ({ perSecond }) => perSecond);
    const cpu = ratio(row, fewest!, ({ cpuMicros }) => cpuMicros);
    say(
      `workers    ${row.name}, ${shape}: ${times.toFixed(2)} times the requests/s of ${fewest!.name}, ` +
        `${cpu.toFixed(2)} times the CPU a request`,
    );
  }
}

if (onAllCores && (workerCounts !== null || values.tracing || values.noise || values.against.length > 0))
  throw new Error('--all-cores cannot be combined with --workers, --tracing, --noise or --against.');
if (new Set(values.against.map((checkout) => basename(resolve(checkout)))).size < values.against.length)
  throw new Error('--against: each folder needs a name of its own, because stores and rows are named after it.');
if (!canPin && !onAllCores)
  say('cores      there is no taskset or only one core: nothing is pinned, and the figures mean little');
await main();
