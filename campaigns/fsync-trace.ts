import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { callRaw } from '../test/raw-client.ts';
import { diskFolder } from './disk-folder.ts';
import { judgeCall } from './fsync/judge.ts';
import { readTrace, type SystemCall } from './fsync/trace.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { MODEL, writeConfig } from './kill/world.ts';

const TRACED = 'read,write,writev,sendto,sendmsg,pwrite64,fsync,fdatasync';
const CALLS_EACH = 3;

/** Each call is identified in the trace by a word of its prompt. */
interface TracedCall {
  readonly stream: boolean;
  readonly word: string;
}

const CALLS: readonly TracedCall[] = Array.from({ length: CALLS_EACH * 2 }, (_, number) => {
  const stream = number % 2 === 1;
  return { stream, word: `traced-${stream ? 'streamed' : 'buffered'}-${number}` };
});

async function main(): Promise<number> {
  if (spawnSync('strace', ['-V']).status !== 0) {
    process.stderr.write('strace is not installed, so nothing was shown. Install it and run this again.\n');
    return 2;
  }
  const folder = diskFolder('tollgate-fsync-');
  const sim = await startSim();
  try {
    const trace = await traceCalls(folder, sim);
    return CALLS.map((call) => show(trace, call, sim)).every((isShown) => isShown) ? 0 : 1;
  } finally {
    await sim.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function traceCalls(folder: string, sim: Sim): Promise<SystemCall[]> {
  const file = join(folder, 'trace.txt');
  const watcher = ['strace', '-f', '-ttt', '-yy', '-s', '4096', '-o', file, '-e', `trace=${TRACED}`];
  const gateway = await startGatewayProcess({ folder, configFile: writeConfig(folder, sim), watcher });
  try {
    const key = await openAccount(gateway);
    for (const call of CALLS) await makeCall(gateway, key, call);
  } finally {
    await gateway.stop();
  }
  return readTrace(readFileSync(file, 'utf8'));
}

async function openAccount(gateway: GatewayProcess): Promise<string> {
  await gateway.ask('accounts.create', { name: 'ada' });
  await gateway.ask('accounts.credit', { account: 'ada', amount_nanousd: 1_000_000_000 });
  const { secret } = (await gateway.ask('keys.mint', { account: 'ada' })) as { secret: string };
  return secret;
}

async function makeCall({ url }: GatewayProcess, key: string, { stream, word }: TracedCall): Promise<void> {
  const body = { model: MODEL, stream, messages: [{ role: 'user', content: word }], max_tokens: 20 };
  const headers = { authorization: `Bearer ${key}` };
  const answer = await callRaw(`${url}/v1/chat/completions`, body, { headers });
  if (answer.status !== 200 || answer.ended !== 'complete') throw new Error(`${answer.status} ${answer.text}`);
}

function show(trace: readonly SystemCall[], { stream, word }: TracedCall, sim: Sim): boolean {
  const { steps, missing } = judgeCall(trace, { word, stream, hostPort: sim.port });
  process.stdout.write(`${word}\n`);
  const start = steps[0]?.call.seconds ?? 0;
  for (const { what, call } of steps) {
    const ms = ((call.seconds - start) * 1000).toFixed(2).padStart(9);
    process.stdout.write(`${ms} ms  ${call.name.padEnd(10)} ${what}\n`);
  }
  process.stdout.write(missing === null ? '\n' : `NOT SHOWN: ${missing}\n\n`);
  return missing === null;
}

process.exitCode = await main();
