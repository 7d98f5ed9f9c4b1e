import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';

/**
 * Where people open the console; null if it is not served. In local mode the token follows the `#`, a part of the link
 * that browsers never send.
 */
export function consoleLink(config: Config, url: string, consoleUrl: string | null): string | null {
  if (!config.console) return null;
  const base = `${(config.hosted ? config.publicUrl : null) ?? consoleUrl ?? url}/console`;
  return config.hosted
    ? base
    : `${base}#token=${readFileSync(join(config.dataFolder, 'console.token'), 'utf8').trim()}`;
}
