import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Misfortune } from './misfortune.ts';
import { pause } from './poll.ts';
import { runProgram, whyNoProgram } from './programs.ts';
import type { Round } from './round.ts';
import { SqliteWorld } from './sqlite-world.ts';

/** No file descriptor is left: no connection can be accepted or made, no file opened. */
export const noDescriptors: Misfortune = {
  name: 'no-descriptors',
  whyNot: () => whyNoProgram('prlimit'),
  play: (round) =>
    // A host that cannot be reached is the gateway's failure here.
    SqliteWorld.use(round, { refusals: ['502 host_failed', '503 no_healthy_host'] }, (world) => starve(round, world)),
};

const IDLE_SOCKETS = 40;
const STARVED_MS_MAX = 2_000;
/** With fewer, Node itself does not start. */
const DESCRIPTORS_MIN = 26;
const DESCRIPTORS_MAX = 60;

async function starve(round: Round, world: SqliteWorld): Promise<void> {
  const { random } = round;
  await world.start();
  const { pid, url, ended } = world.gateway;
  const traffic = world.traffic();
  await traffic.reached(random.between(1, 200));
  const usual = limitOf(pid);
  const open = readdirSync(`/proc/${pid}/fd`).length;
  setLimit(pid, Math.max(open - random.below(12), 1));
  const idle = Array.from({ length: IDLE_SOCKETS }, () => dial(url));
  await Promise.race([ended, traffic.reached(60), pause(random.below(STARVED_MS_MAX))]);
  for (const socket of idle) socket.destroy();
  const isOver = await Promise.race([ended, pause(0)]);
  if (isOver === undefined) setLimit(pid, usual);
  else round.refused(isOver, 'when no descriptor was left');
  await traffic.end();
  if (isOver === undefined) {
    await world.serves();
    await world.gateway.end(random.chance(0.5) ? 'SIGTERM' : 'SIGKILL');
  }
  const descriptors = random.between(DESCRIPTORS_MIN, DESCRIPTORS_MAX);
  const launcher = ['sh', '-c', `ulimit -n ${descriptors} && exec "$@"`, 'sh'];
  if (await world.tryStart(`start with ulimit -n ${descriptors}`, { launcher })) {
    await world.gateway.end('SIGTERM');
  }
  await world.restart();
  await world.audit();
}

function limitOf(pid: number): number {
  return Number(runProgram('prlimit', '--pid', String(pid), '--nofile', '--noheadings', '--output', 'SOFT').trim());
}

function setLimit(pid: number, descriptors: number): void {
  runProgram('prlimit', '--pid', String(pid), `--nofile=${descriptors}:`);
}

/** A connection that sends nothing. */
function dial(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  return socket;
}
