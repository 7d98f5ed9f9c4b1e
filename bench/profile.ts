import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Child, OTHER_CORE } from './child.ts';
import { startTollgate } from './contenders.ts';
import { fillStore } from './fill-store.ts';
import { measure, startLoad } from './measure.ts';
import { SHAPES, type Shape } from './traffic.ts';
import type { UpstreamHello } from './upstream.ts';

const { values } = parseArgs({
  options: {
    shape: { type: 'string' },
    relay: { type: 'string', default: 'mended' },
    seconds: { type: 'string', default: '8' },
    rows: { type: 'string', default: '1000000' },
    top: { type: 'string', default: '10' },
    'frames-apart': { type: 'boolean', default: false },
  },
});

/** One sampled function, as V8 writes it into a .cpuprofile. */
interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

interface Profile {
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
  const contenders = await startTollgate({ folder, upstreamPort: hello.port }, flags);
  const tollgate = contenders.find(({ name }) => name.endsWith(values.relay))!;
  const around = { upstream, load, keys, connections: 64 };
  const figures = await measure(around, tollgate, shape, Number(values.seconds));
  await tollgate.child.stop();
  await Promise.all([upstream.stop(), load.stop()]);
  const { answered, perSecond, cpuMicros } = figures;
  say(`\n${shape}, ${values.relay}: ${perSecond.toFixed(0)} requests/s, ${cpuMicros.toFixed(0)} µs of CPU each`);
  for (const file of readdirSync(profiles).sort()) printTop(join(profiles, file), answered);
}

/** Threads that did nothing but wait are left out. */
function printTop(file: string, answered: number): void {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const selfMicros = selfTimes(profile);
  selfMicros.delete('(idle)');
  const total = [...selfMicros.values()].reduce((sum, micros) => sum + micros, 0);
  if (total / answered < 1) return;
  say(`\n  ${threadOf(profile)} thread: ${(total / answered).toFixed(1)} µs per request; the top by self time`);
  const top = [...selfMicros].sort(([, a], [, b]) => b - a).slice(0, Number(values.top));
  for (const [name, micros] of top) {
    say(
      `  ${((100 * micros) / total).toFixed(1).padStart(5)} %  ${(micros / answered).toFixed(2).padStart(6)} µs  ${name}`,
    );
  }
}

function selfTimes({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]));
  const times = new Map<string, number>();
  samples.forEach((id, at) => {
    const name = names.get(id)!;
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[at + 1] ?? 0));
  });
  return times;
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  if (url === '') return name;
  const place = url.replace(/^.*\/(?=(node_modules|src)\/)/, '').replace('node_modules/', '');
  return `${name}  ${place}:${lineNumber + 1}`;
}

function threadOf({ nodes }: Profile): string {
  const runs = (file: string) => nodes.some(({ callFrame }) => callFrame.url.endsWith(file));
  if (runs('store/sqlite/batch.ts') && !runs('gateway/exchange.ts')) return 'writer';
  return runs('gateway/exchange.ts') ? 'main' : 'other';
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const scratch = join(import.meta.dirname, '../.tollgate');
mkdirSync(scratch, { recursive: true });
const shapes = SHAPES.filter((shape) => values.shape === undefined || values.shape === shape);
for (const shape of shapes) {
  const folder = mkdtempSync(join(scratch, 'bench-'));
  try {
    await profileShape(folder, shape);
  } finally {
    await Child.stopAll();
    rmSync(folder, { recursive: true });
  }
}
