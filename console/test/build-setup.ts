import { execFileSync } from 'node:child_process';
import { chromiumPath } from './browser.ts';

export default async function setup(): Promise<void> {
  // Tests look at the console as its sources are now, not as it was built last.
  execFileSync(process.execPath, [new URL('../build.js', import.meta.url).pathname], { stdio: 'inherit' });
  // Once for all test files: two processes that unpack the browser at the same time find it half-written.
  await chromiumPath();
}
