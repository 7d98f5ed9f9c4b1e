import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transport } from '../../src/config/config.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { startSim } from '../../src/sim/sim.ts';
import type { Sim } from '../../src/sim/sim-handle.ts';
import { StreamClient } from '../../test/stream-client.ts';
import { until } from '../../test/until.ts';
import { type GatewayProcess, startGatewayProcess } from '../gateway-process.ts';
import { configOf, MODEL } from '../kill/world.ts';

/** Opens more connections than a gateway has file descriptors, while calls run. */

interface FloodTerms {
  /** What `ulimit -n` gives the gateway. */
  readonly descriptors: number;
  readonly sockets: number;
  readonly transport: Transport;
  /** Streams that run all the while; a few by default. */
  readonly streams?: number;
}

interface FloodFigures {
  /** Connections of the flood that the gateway closed. */
  readonly closed: number;
  /** Streams that ran all the while: how they ended, and the status of their receipts. */
  readonly streams: readonly string[];
  /** Statuses of calls made on new connections while the flood's were open. */
  readonly callsMeanwhile: readonly number[];
  readonly spentNanousd: number;
  readonly floodMs: number;
  readonly isAlive: boolean;
}

const STREAMS = 4;
const CALLS_MEANWHILE = 30;
const DIALLED_AT_ONCE = 100;
/** One address has fewer than 65,536 ports to dial from. */
const SOCKETS_PER_ADDRESS = 20_000;
const CALL = { model: MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 100 };
/** One third of them send nothing, one third part of a head, and one third a request that is answered; then all are silent. */
const OPENINGS = ['', 'GET /v1/models HT', 'GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n'];

export async function flood(terms: FloodTerms): Promise<FloodFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-sockets-'));
  const sim = await startSim();
  const configFile = join(folder, 'tollgate.config.json');
  writeFileSync(configFile, JSON.stringify({ ...configOf(sim.url), transport: terms.transport }));
  const watcher = ['sh', '-c', `ulimit -n ${terms.descriptors} && exec "$@"`, 'sh'];
  const gateway = await startGatewayProcess({ folder, configFile, watcher });
  const sockets: Socket[] = [];
  try {
    return await run(terms, gateway, sim, sockets);
  } finally {
    for (const socket of sockets) socket.destroy();
    await gateway.stop();
    await sim.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(terms: FloodTerms, gateway: GatewayProcess, sim: Sim, sockets: Socket[]): Promise<FloodFigures> {
  const authorization = `Bearer ${await openAccount(gateway)}`;
  sim.script({ gate: 'chunk' });
  const { streams: count = STREAMS } = terms;
  const streams = Array.from(
    { length: count },
    () => new StreamClient(gateway.url, { ...CALL, stream: true }, { authorization }),
  );
  await sim.waitForGate('chunk', count);
  sim.script({});
  let isAlive = true;
  void gateway.ended.then(() => (isAlive = false));
  const beganMs = systemClock.monotonicMs();
  await dialAll(gateway.url, terms.sockets, sockets);
  const floodMs = systemClock.monotonicMs() - beganMs;
  const callsMeanwhile: number[] = [];
  for (let call = 0; call < CALLS_MEANWHILE; call++) callsMeanwhile.push(await makeCall(gateway.url, authorization));
  const closed = sockets.filter((socket) => socket.destroyed).length;
  sim.release('chunk', 10_000);
  for (const stream of streams) await stream.end();
  const ended: string[] = [];
  for (const stream of streams) ended.push(`${stream.ended} ${await receiptStatus(gateway, stream, authorization)}`);
  const balance = await read(gateway, '/v1/balance', authorization);
  return { closed, streams: ended, callsMeanwhile, spentNanousd: Number(balance.spent_nanousd), floodMs, isAlive };
}

async function openAccount(gateway: GatewayProcess): Promise<string> {
  await gateway.ask('accounts.create', { name: 'ada' });
  await gateway.ask('accounts.credit', { account: 'ada', amount_nanousd: 100_000_000_000 });
  return ((await gateway.ask('keys.mint', { account: 'ada' })) as { secret: string }).secret;
}

/** Each batch is connected before the next one is dialled, so that none waits in a queue of the system. */
async function dialAll(url: string, count: number, sockets: Socket[]): Promise<void> {
  const port = Number(new URL(url).port);
  while (sockets.length < count) {
    const batch: Socket[] = [];
    for (let at = 0; at < DIALLED_AT_ONCE && sockets.length < count; at++) {
      const localAddress = `127.0.0.${2 + Math.floor(sockets.length / SOCKETS_PER_ADDRESS)}`;
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => {});
      const opening = OPENINGS[sockets.length % OPENINGS.length]!;
      if (opening !== '') socket.write(opening);
      socket.resume();
      batch.push(socket);
      sockets.push(socket);
    }
    await until(() => batch.every((socket) => !socket.connecting), 'a batch of sockets is connected');
  }
}

async function makeCall(url: string, authorization: string): Promise<number> {
  const headers = { authorization, 'content-type': 'application/json', connection: 'close' };
  const call = fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(CALL) });
  return call.then(
    async (response) => {
      await response.text();
      return response.status;
    },
    () => 0,
  );
}

async function receiptStatus(gateway: GatewayProcess, stream: StreamClient, authorization: string): Promise<string> {
  return String((await read(gateway, `/v1/receipts/${stream.requestId}`, authorization)).status);
}

async function read(gateway: GatewayProcess, path: string, authorization: string): Promise<Record<string, unknown>> {
  const response = await fetch(gateway.url + path, { headers: { authorization } });
  return (await response.json()) as Record<string, unknown>;
}
