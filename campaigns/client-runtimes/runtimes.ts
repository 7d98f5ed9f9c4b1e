import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../clients/run-program.ts';

export interface Runtime {
  readonly name: string;
  readonly version: string;
  /** The package of a platform, which carries the program. No install script is run. */
  readonly package: string;
  /** Inside the package. */
  readonly program: string;
  readonly args: readonly string[];
}

const INSTALL_MS = 10 * 60_000;
const PLATFORM = `${process.platform}-${process.arch}`;
const DENO_PLATFORM = process.platform === 'linux' ? `${PLATFORM}-glibc` : PLATFORM;
const node = (version: string): Runtime => ({
  name: `node ${version.split('.', 1)[0]}`,
  version,
  package: `node-${PLATFORM}`,
  program: 'bin/node',
  args: [],
});

export const RUNTIMES: readonly Runtime[] = [
  node('20.20.2'),
  node('22.23.3'),
  node('24.21.0'),
  node(process.versions.node),
  { name: 'bun', version: '1.4.4', package: `@oven/bun-${PLATFORM}`, program: 'bin/bun', args: [] },
  {
    name: 'deno',
    version: '2.9.6',
    package: `@deno/${DENO_PLATFORM}`,
    program: 'deno',
    args: ['run', '--allow-net', '--allow-read', '--allow-env'],
  },
];

/** Installs a runtime below the temporary folder, unless it is there; returns its program. */
export async function installRuntime({ name, version, package: packageName, program }: Runtime): Promise<string> {
  const folder = join(tmpdir(), 'tollgate-clients', `${name.replaceAll(' ', '-')}-${version}`);
  const executable = join(folder, 'node_modules', packageName, program);
  if (existsSync(executable)) return executable;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const args = ['install', '--prefix', folder, ...options, `${packageName}@${version}`];
  // npm needs the settings of this user: registry, proxy and cache.
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const { code, output } = await runProgram({ program: 'npm', args, cwd: folder, env, limitMs: INSTALL_MS });
  if (code !== 0) throw new Error(`not installed: ${output.trim().split('\n').at(-1)}`);
  if (!existsSync(executable)) throw new Error(`not installed: ${packageName} has no ${program}`);
  return executable;
}
