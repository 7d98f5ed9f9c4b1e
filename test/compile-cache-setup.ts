import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGatewayProcess } from '../campaigns/gateway-process.ts';
import { COMPILE_CACHE } from '../campaigns/process-environment.ts';

/** Says for which clone and which Node the cache was filled. */
const MARK = join(COMPILE_CACHE, 'filled-for');
const WANTED = `${import.meta.dirname} ${process.version}`;

/** Fills the compile cache of a fresh clone: threads that all strip types at once may crash V8 (docs/decisions/0019). */
export default async function setup(): Promise<void> {
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === WANTED) return;
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cache-'));
  const configFile = join(folder, 'tollgate.config.json');
  // Otherwise it would wait at its end for load balancers to see that it stops.
  writeFileSync(configFile, JSON.stringify({ limits: { shutdown_notice_ms: 0 } }));
  const gateway = await startGatewayProcess({ folder, configFile });
  await gateway.stop();
  rmSync(folder, { recursive: true });
  mkdirSync(COMPILE_CACHE, { recursive: true });
  writeFileSync(MARK, WANTED);
}
