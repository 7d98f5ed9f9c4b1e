import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { describeSize, isSmallEnough } from './package/describe-size.ts';
import { digests, measureTree } from './package/files.ts';
import { packageManifest } from './package/manifest.ts';
import { packPackage, unpack } from './package/pack.ts';
import { changelogSection } from './release/changelog.ts';
import { installNode, makeCleanRoot } from './release/clean-root.ts';
import { differences } from './release/differences.ts';
import { exportCommit } from './release/rebuild.ts';
import { type Check, runChecks } from './release/run-checks.ts';
import { sbomProblems } from './release/sbom.ts';
import { smokeTest } from './release/smoke-test.ts';

/**
 * Checks a release before it is published: builds, packs and rebuilds it, installs the tarball as users do, runs it, and writes what
 * is published beside it. Everything is in release/ afterwards. It needs a registry for the installation.
 */

const root = resolve(import.meta.dirname, '..');
const into = join(root, 'release');
const work = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
const manifest = packageManifest(root);
const tarball = join(into, `${manifest.name}-${manifest.version}.tgz`);
const oldestNode = `${/\d+\.\d+/.exec(manifest.engines.node!)![0]}.0`;
const clean = makeCleanRoot(work, process.execPath);
const gateway = { command: ['node_modules/.bin/tollgate'], cwd: clean.project };

const checks: readonly Check[] = [
  { name: 'pack', run: pack },
  { name: 'reproducible', run: rebuild },
  { name: 'install', run: install },
  { name: 'smoke test', run: () => smoke(process.execPath) },
  { name: 'oldest Node', run: async () => smoke(await installNode(makeCleanRoot(work, process.execPath), oldestNode)) },
  { name: 'SBOM', run: writeSbom },
  { name: 'changelog', run: writeChangelog },
];

try {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into);
  const isGood = await runChecks(checks, (line) => process.stdout.write(`${line}\n`));
  process.exitCode = isGood ? 0 : 1;
} finally {
  rmSync(work, { recursive: true });
}

function pack(): string {
  packPackage({ root, into, console: 'build' });
  const digest = createHash('sha256').update(readFileSync(tarball)).digest('hex');
  writeFileSync(join(into, 'SHA256SUMS'), `${digest}  ${basename(tarball)}\n`);
  return `${relative(root, tarball)}, ${statSync(tarball).size} bytes, sha256 ${digest}`;
}

/** From the last commit, so that nothing of a release is only on the machine that made it. */
function rebuild(): string {
  const [source, again, first, second] = ['source', 'again', 'first', 'second'].map((name) => join(work, name));
  exportCommit(root, source!);
  unpack(tarball, first!);
  unpack(packPackage({ root: source!, into: again!, console: 'build' }), second!);
  const found = differences(digests(first!), digests(second!));
  if (found.length > 0) throw new Error(`The tarball is not what the last commit builds: ${found.join('; ')}.`);
  return `all ${digests(first!).size} files are those that a build of the last commit has`;
}

async function install(): Promise<string> {
  await clean.npm('install', tarball);
  const size = measureTree(clean.project);
  if (!isSmallEnough(size)) throw new Error(`The installation is too large: ${describeSize(size)}.`);
  return describeSize(size);
}

async function smoke(node: string): Promise<string> {
  const { env } = makeCleanRoot(work, node);
  const { readyMs, costNanousd } = await smokeTest({ ...gateway, env });
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  return `Node ${version}: ready after ${Math.round(readyMs)} ms, and a call cost ${costNanousd} nanodollars`;
}

async function writeSbom(): Promise<string> {
  const sbom = await clean.npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=application');
  const problems = sbomProblems(sbom, manifest);
  if (problems.length > 0) throw new Error(`${problems.join('; ')}.`);
  const file = tarball.replace(/\.tgz$/, '.sbom.json');
  writeFileSync(file, sbom);
  return `${relative(root, file)} lists ${Object.keys(manifest.dependencies).length + 1} packages`;
}

function writeChangelog(): string {
  const { title, text } = changelogSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), manifest.version);
  const file = tarball.replace(/\.tgz$/, '.changes.md');
  writeFileSync(file, `${text}\n`);
  const remark = title === 'Unreleased' ? `; name the section ${manifest.version} before you publish` : '';
  return `${relative(root, file)} is the section ${title}${remark}`;
}
