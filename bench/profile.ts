import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFlags } from '../test/read-flags.ts';
import { Child, OTHER_CORE } from './child.ts';
import { startTollgate } from './contenders.ts';
import { fillStore } from './fill-store.ts';
import { measure, startLoad } from './measure.ts';
import { inScratchFolder, say } from './scratch.ts';
import { SHAPES, type Shape } from './traffic.ts';
import type { UpstreamHello } from './upstream.ts';

const { values } = readFlags({
  options: {
    shape: { type: 'string' },
    seconds: { type: 'string', default: '8' },
    rows: { type: 'string', default: '1000000' },
    top: { type: 'string', default: '10' },
    'frames-apart': { type: 'boolean', default: false },
  },
});

const WARM_UP_SECONDS = 5;

/** One sampled function, as V8 writes it into a .cpuprofile. */
interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

interface Profile {
  /** Microseconds of the machine's monotonic clock, as are the deltas. */
  readonly startTime: number;
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

async function profileShape(folder: string, shape: Shape): Promise<void> {
  const accounts = fillStore({ folder, calls: Number(values.rows), accounts: 1000 });
  const keys = accounts.map(({ secret }) => secret);
  const terms = { framesApart: values['frames-apart'] };
  const { child: upstream, hello } = await Child.ready<UpstreamHello>(OTHER_CORE, 'upstream.ts', terms);
  const load = await startLoad();
  const profiles = join(folder, 'profiles');
  const flags = ['--cpu-prof', `--cpu-prof-dir=${profiles}`, '--cpu-prof-interval=500'];
  const tollgate = await startTollgate({ folder, upstreamPort: hello.port, transport: 'own' }, flags);
  const around = { upstream, load, keys, connections: 64 };
  await measure(around, tollgate, shape, WARM_UP_SECONDS);
  const startMicros = monotonicMicros();
  const figures = await measure(around, tollgate, shape, Number(values.seconds));
  const endMicros = monotonicMicros();
  await tollgate.child.stop();
  await Promise.all([upstream.stop(), load.stop()]);
  const { answered, perSecond, cpuMicros } = figures;
  say(`\n${shape}: ${perSecond.toFixed(0)} requests/s, ${cpuMicros.toFixed(0)} µs of CPU each`);
  for (const file of readdirSync(profiles).sort()) printTop(join(profiles, file), { startMicros, endMicros, answered });
}

/** When the measured load ran, and how much of it there was. */
interface Window {
  readonly startMicros: number;
  readonly endMicros: number;
  readonly answered: number;
}

/** Threads that did nothing but wait are left out. */
function printTop(file: string, window: Window): void {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const total = sum(selfTimes(profile, window, () => 'all'));
  if (total / window.answered < 1) return;
  say(
    `\n  ${threadOf(profile)} thread: ${(total / window.answered).toFixed(1)} µs per request, by place and by function`,
  );
  for (const grouping of [placeOf, nameOf]) {
    const times = selfTimes(profile, window, grouping);
    const top = [...times].sort(([, a], [, b]) => b - a).slice(0, Number(values.top));
    for (const [name, micros] of top) {
      const share = ((100 * micros) / total).toFixed(1).padStart(5);
      say(`  ${share} %  ${(micros / window.answered).toFixed(2).padStart(6)} µs  ${name}`);
    }
    say('');
  }
}

function sum(times: ReadonlyMap<string, number>): number {
  return [...times.values()].reduce((total, micros) => total + micros, 0);
}

/** Self time of all samples within the window, idle ones aside. */
function selfTimes(
  profile: Profile,
  { startMicros, endMicros }: Window,
  grouping: (node: ProfileNode) => string,
): Map<string, number> {
  const { nodes, samples, timeDeltas } = profile;
  const names = new Map(nodes.map((node) => [node.id, isIdle(node) ? null : grouping(node)]));
  const times = new Map<string, number>();
  let at = profile.startTime;
  samples.forEach((id, index) => {
    at += timeDeltas[index]!;
    const name = names.get(id)!;
    if (name === null || at < startMicros || at > endMicros) return;
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index + 1] ?? 0));
  });
  return times;
}

function isIdle({ callFrame }: ProfileNode): boolean {
  return callFrame.functionName === '(idle)';
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const place = url.replace(/^.*\/(?=(node_modules|src)\/)/, '').replace('node_modules/', '');
  return `${name}  ${place}:${lineNumber + 1}`;
}

/** The package, our own folder, or the part of Node that a function belongs to. */
function placeOf({ callFrame: { url } }: ProfileNode): string {
  if (url === '') return 'native';
  const packaged = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  const own = /\/src\/(\w+)/.exec(url);
  return packaged?.[1] ?? (own === null ? url.replace(/:?\/[^:]*$/, '') : `src/${own[1]}`);
}

function threadOf({ nodes }: Profile): string {
  const runs = (file: string) => nodes.some(({ callFrame }) => callFrame.url.endsWith(file));
  if (runs('store/sqlite/batch.ts') && !runs('gateway/exchange.ts')) return 'writer';
  return runs('gateway/exchange.ts') ? 'main' : 'other';
}

function monotonicMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

const shapes = SHAPES.filter((shape) => values.shape === undefined || values.shape === shape);
for (const shape of shapes) await inScratchFolder((folder) => profileShape(folder, shape));
