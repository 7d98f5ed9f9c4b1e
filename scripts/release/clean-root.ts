import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** Where downloads come from; everything else of this machine's settings stays out. */
const PASSED_ON = /^(https?_proxy|no_proxy|node_extra_ca_certs|npm_config_(registry|cafile))$/i;

/** A machine with nothing but Node, as far as a folder can be one: its own HOME, and a PATH on which only `node` is. */
interface CleanRoot {
  /** A project in which nothing is installed yet. */
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  npm(...args: readonly string[]): Promise<string>;
}

export function makeCleanRoot(parent: string, node: string): CleanRoot {
  const folder = mkdtempSync(join(parent, 'root-'));
  const [home, path, project] = ['home', 'path', 'project'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const part of [home, path, project]) mkdirSync(part);
  symlinkSync(node, join(path, 'node'));
  writeFileSync(join(project, 'package.json'), '{"name":"installation","version":"1.0.0","private":true}\n');
  const passed = Object.entries(process.env).filter(([name, value]) => PASSED_ON.test(name) && value !== undefined);
  const env = { ...(Object.fromEntries(passed) as Record<string, string>), HOME: home, PATH: path };
  const npm = async (...args: readonly string[]): Promise<string> => {
    const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
    const options = { cwd: project, env, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(node, [npmProgram(), ...args, ...quiet], options)).stdout;
  };
  return { project, env, npm };
}

/** npm says where it is to the scripts that it runs; otherwise it is on the PATH. */
function npmProgram(): string {
  const { npm_execpath: said, PATH = '' } = process.env;
  if (said?.endsWith('.js')) return said;
  for (const folder of PATH.split(delimiter)) {
    try {
      return realpathSync(join(folder, 'npm'));
    } catch {
      // Not in this folder.
    }
  }
  throw new Error('There is no npm on the PATH.');
}

/** Installs the program of an exact version of Node, without running a script; returns its path. */
export async function installNode(root: CleanRoot, version: string): Promise<string> {
  const { platform, arch } = process;
  const system = platform === 'win32' ? 'win' : platform;
  const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${system}-${arch}`;
  await root.npm('install', '--no-save', '--ignore-scripts', `${name}@${version}`);
  const folder = join(root.project, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: { node: string } };
  return join(folder, bin.node);
}
