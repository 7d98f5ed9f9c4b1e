// Starts the gateway once after an installation and stops it when it is ready. Node keeps what it compiled, so the first real
// start takes half as long. Whatever goes wrong here, the installation is fine without it: this program never fails.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const WAIT_MS_MAX = Number(process.argv[2] ?? 30_000);

try {
  // Without development packages the console is not built: that is how servers install, which start rarely.
  if (existsSync(join(root, 'dist/console/index.html'))) await startOnce();
} catch (error) {
  process.stderr.write(`The compile cache was not filled, so the first start takes longer: ${error.message}\n`);
}

async function startOnce() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-warm-'));
  try {
    await serveUntilReady(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serveUntilReady(folder) {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const serve = ['serve', '--port', '0', '--json', '--log-level', 'silent', '--no-local-hosts', '--data', folder];
  const child = spawn(process.execPath, [join(root, 'bin/tollgate.js'), ...serve], {
    // Not in the folder of the installation, whose config file may name a real ledger.
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH, ...(HOME && { HOME }), ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }) },
  });
  const stop = () => child.kill('SIGTERM');
  // An installation that is interrupted leaves no gateway behind.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
  const slow = setTimeout(() => child.kill('SIGKILL'), WAIT_MS_MAX);
  child.stdout.once('data', stop);
  await new Promise((resolve) => child.once('error', resolve).once('close', resolve));
  clearTimeout(slow);
}
