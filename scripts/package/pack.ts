import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hardLink } from './files.ts';
import { BUNDLED, packageManifest, productionEntries } from './manifest.ts';
import { type StageTerms, stagePackage } from './stage.ts';

type PackTerms = Omit<StageTerms, 'folder'> & {
  /** Where the tarball goes. */
  readonly into: string;
};

/** Builds and packs; returns the path of the tarball. */
export function packPackage({ into, ...terms }: PackTerms): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-stage-'));
  try {
    stagePackage({ ...terms, folder });
    mkdirSync(into, { recursive: true });
    const pack = ['pack', '--ignore-scripts', '--loglevel=error', '--no-update-notifier', '--pack-destination', into];
    execFileSync('npm', pack, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  } finally {
    rmSync(folder, { recursive: true });
  }
  const { name, version } = packageManifest(terms.root);
  return join(into, `${name}-${version}.tgz`);
}

export function unpack(tarball: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
}

/** Installs a tarball into a folder as npm does, but takes what it depends on from a clone; returns the package's folder. */
export function installFromClone(root: string, tarball: string, folder: string): string {
  const installed = join(folder, 'node_modules/tollgate');
  unpack(tarball, installed);
  const { dependencies } = packageManifest(root);
  for (const path of productionEntries(root, Object.keys(dependencies)).keys())
    if (path !== `node_modules/${BUNDLED}`) hardLink(join(root, path), join(installed, path));
  mkdirSync(join(folder, 'node_modules/.bin'));
  symlinkSync('../tollgate/bin/tollgate.js', join(folder, 'node_modules/.bin/tollgate'));
  return installed;
}
