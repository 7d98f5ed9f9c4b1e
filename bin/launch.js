import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';

// Reading the same source again costs half of the start; Node keeps what it made of it.
enableCompileCache();

// A published package has only the compiled form, a clone usually only the source, which Node runs as it is.
const compiled = new URL('../dist/main.js', import.meta.url);
const source = new URL('../src/main.ts', import.meta.url);
const { main } = await import((existsSync(compiled) ? compiled : source).href);
process.exitCode = await main(process.argv.slice(2));
