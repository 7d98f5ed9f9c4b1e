import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askFolder, commandOf, environmentOf, isAlive } from './gateway.ts';
import type { Misfortune } from './misfortune.ts';
import { poll } from './poll.ts';
import { whyNoProgram } from './programs.ts';
import type { Round } from './round.ts';
import { SqliteWorld } from './sqlite-world.ts';

/** The terminal on which the gateway was started is closed: it finishes its calls and ends. */
export const closedTerminal: Misfortune = {
  name: 'closed-terminal',
  whyNot: () => whyNoProgram('script'),
  play: (round) => SqliteWorld.use(round, {}, (world) => closeTerminal(round, world)),
};

async function closeTerminal(round: Round, world: SqliteWorld): Promise<void> {
  const terminal = await openTerminal(world);
  try {
    const traffic = world.traffic(terminal.url);
    await traffic.reached(round.random.between(1, 300));
    const underWay = [...traffic.load.underWay];
    terminal.process.kill('SIGKILL');
    await traffic.end();
    await poll(() => !isAlive(terminal.pid), 'the gateway whose terminal was closed ends');
    // A call that was admitted is finished; one that had not arrived yet may be refused.
    const cut = underWay.filter(({ requestId, costNanousd }) => requestId !== null && costNanousd === null);
    const refused = new Set(traffic.load.refusals.map((refusal) => refusal.split(':', 1)[0]!));
    for (const { label } of cut) if (!refused.has(label)) round.fault(`${label} was cut off by the closed terminal`);
  } finally {
    if (isAlive(terminal.pid)) process.kill(terminal.pid, 'SIGKILL');
  }
  await world.restart();
  await world.serves();
  await world.audit();
}

interface Terminal {
  readonly url: string;
  /** The process id of the gateway. */
  readonly pid: number;
  readonly process: ChildProcess;
}

/** The gateway writes its whole log to the terminal, so that some lines meet a closed one. */
async function openTerminal({ terms, folder }: SqliteWorld): Promise<Terminal> {
  const screen = join(folder, '..', 'screen');
  const command = `exec ${commandOf(terms, 'info').map(quoted).join(' ')}`;
  const child = spawn('script', ['-qfc', command, screen], {
    cwd: folder,
    env: environmentOf(terms),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const shown = (): string => (existsSync(screen) ? readFileSync(screen, 'utf8') : '');
  const address = /"url":"(http:[^"]+)"/;
  await poll(() => address.test(shown()), 'the gateway on the terminal says its address');
  const { server } = (await askFolder(folder, 'status')) as { server: { pid: number } };
  return { url: address.exec(shown())![1]!, pid: server.pid, process: child };
}

function quoted(word: string): string {
  return `'${word}'`;
}
