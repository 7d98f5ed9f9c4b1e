import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { describeSize, isSmallEnough } from './package/describe-size.ts';
import { measureTree } from './package/files.ts';
import { installFromClone, packPackage } from './package/pack.ts';

/** Packs the gateway into release/, and says what an installation of it takes. */

const root = resolve(import.meta.dirname, '..');
const tarball = packPackage({ root, into: join(root, 'release'), console: 'build' });
const folder = mkdtempSync(join(tmpdir(), 'tollgate-install-'));
try {
  installFromClone(root, tarball, folder);
  const size = measureTree(folder);
  process.stdout.write(`${relative(root, tarball)}: ${statSync(tarball).size} bytes\n`);
  process.stdout.write(`installed: ${describeSize(size)}\n`);
  process.exitCode = isSmallEnough(size) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
