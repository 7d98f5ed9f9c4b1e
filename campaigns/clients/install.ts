import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Agent } from './agent.ts';
import { runProgram } from './run-program.ts';

const INSTALL_MS = 15 * 60_000;

/** Installs the agent below the system's temporary folder, unless it is there; returns its program. */
export async function installAgent(agent: Agent): Promise<string> {
  const folder = join(cacheFolder(), agent.name);
  const mark = join(folder, 'installed.txt');
  const wanted = `${agent.package} ${agent.version}`;
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const [program, ...args] of INSTALL[agent.from](agent, folder)) await install(program!, args, folder);
    writeFileSync(mark, wanted);
  }
  return join(folder, BINARIES[agent.from], agent.program);
}

const BINARIES = { npm: 'node_modules/.bin', pip: 'bin' };

const INSTALL: Record<Agent['from'], (agent: Agent, folder: string) => string[][]> = {
  npm: (agent, folder) => [
    [
      'npm',
      'install',
      '--prefix',
      folder,
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `${agent.package}@${agent.version}`,
    ],
  ],
  pip: (agent, folder) => [
    ['python3', '-m', 'venv', folder],
    [
      join(folder, 'bin', 'pip'),
      'install',
      '--quiet',
      '--disable-pip-version-check',
      `${agent.package}==${agent.version}`,
    ],
  ],
};

async function install(program: string, args: readonly string[], cwd: string): Promise<void> {
  // The package managers need the settings of this user: registry, proxy and cache.
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const { code, output } = await runProgram({ program, args, cwd, env, limitMs: INSTALL_MS });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output.slice(-2000)}`);
}

/** Programs in it are run, so it must not belong to somebody else. */
function cacheFolder(): string {
  const folder = join(tmpdir(), 'tollgate-clients');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.getuid !== undefined && statSync(folder).uid !== process.getuid()) {
    throw new Error(`${folder} belongs to another user. Set TMPDIR to a folder of your own.`);
  }
  return folder;
}
