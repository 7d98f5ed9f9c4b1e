import { execFileSync } from 'node:child_process';

/** Tests look at the console as its sources are now, not as it was built last. */
export default function setup(): void {
  execFileSync(process.execPath, [new URL('../build.js', import.meta.url).pathname], { stdio: 'inherit' });
}
