import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { isAbsolute, join } from 'node:path';
import { rememberHangups } from './early-hangups.js';

const argv = process.argv.slice(2);
// Without a command, or with a flag in its place, the gateway is started. Any other command ends on SIGHUP.
const [command = 'serve'] = argv;
const hangups = command === 'serve' || command.startsWith('-') ? rememberHangups() : null;

// Reading the same source again costs half of the start, so Node keeps what it made of it. Not where Node would, in a
// folder that everybody may write to: who writes there decides what runs here.
const caches = cachesFolder();
if (caches !== null) enableCompileCache(join(caches, 'tollgate'));

// A published package has only the compiled form, a clone usually only the source, which Node runs as it is.
const compiled = new URL('../dist/main/main.js', import.meta.url);
const source = new URL('../src/main/main.ts', import.meta.url);
const { main } = await import((existsSync(compiled) ? compiled : source).href);
process.exitCode = await main(argv, hangups);

/** As the XDG base directory specification says, which also has a relative path ignored. */
function cachesFolder() {
  const { HOME = '', XDG_CACHE_HOME = '' } = process.env;
  if (isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  return isAbsolute(HOME) ? join(HOME, '.cache') : null;
}
