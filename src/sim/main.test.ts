import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { callRaw } from '../../test/raw-client.ts';
import { parseJson } from '../json/json.ts';
import { startSim } from './sim.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

async function readUrl(stdout: Readable): Promise<string> {
  const [line] = (await once(stdout, 'data')) as [Buffer];
  return (parseJson(line.toString()) as { url: string }).url;
}

test('as a process it says where it listens and ends on SIGTERM, hung responses or not', async () => {
  const child = spawn(process.execPath, [MAIN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await readUrl(child.stdout);
  const ask = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hi' }] };
  expect((await callRaw(`${url}/v1/chat/completions`, ask)).status).toBe(200);
  const hung = callRaw(`${url}/v1/chat/completions`, { ...ask, sim: { hang: 'after-head' } });
  await callRaw(`${url}/sim/wait`, { calls: 2 });
  child.kill('SIGTERM');
  const [[code], cut] = await Promise.all([once(child, 'exit'), hung]);
  expect([code, cut.ended]).toEqual([0, 'cut']);
});

test('as a child it ends when its parent lets go of it', async () => {
  const child = fork(MAIN, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  await readUrl(child.stdout!);
  child.disconnect();
  expect((await once(child, 'exit'))[0]).toBe(0);
});

test('it ends without a word when nobody reads where it listens', async () => {
  const child = spawn(process.execPath, [MAIN], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += piece.toString()));
  const [code] = await once(child, 'close');
  expect([code, said]).toEqual([0, '']);
});

test('on a taken or impossible port it says so and fails', async () => {
  const other = await startSim();
  for (const [port, says] of [
    [String(other.port), 'EADDRINUSE'],
    ['many', '--port must be a number'],
  ] as const) {
    const child = spawn(process.execPath, [MAIN, '--port', port], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [[said], [code]] = await Promise.all([once(child.stderr, 'data'), once(child, 'exit')]);
    expect([String(said), code]).toEqual([expect.stringContaining(says), 1]);
  }
  await other.close();
});
