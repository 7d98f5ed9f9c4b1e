import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const load = createRequire(import.meta.url);

/** Loaded on first use: a gateway without proxies, on its own transport, starts faster without it. */
export function undici(): typeof Undici {
  return load('undici');
}
