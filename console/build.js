// Builds the console into dist/console, or into the folder after --out, with a compressed copy of each text beside it. `npm ci`
// runs it too, also where the development packages are left out: then there is nothing to build with, and nothing to do.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { constants, gzipSync } from 'node:zlib';

// Whoever runs this, tests too, gets the page that people get.
process.env.NODE_ENV = 'production';

const { values } = parseArgs({ options: { 'if-installed': { type: 'boolean' }, out: { type: 'string' } } });
const COMPRESSED = /\.(js|css|svg)$/;

const vite = await import('vite').catch((error) => {
  if (values['if-installed'] && error.code === 'ERR_MODULE_NOT_FOUND') return null;
  throw error;
});

if (vite !== null) {
  const configFile = fileURLToPath(new URL('vite.config.ts', import.meta.url));
  const outDir = resolve(values.out ?? fileURLToPath(new URL('../dist/console', import.meta.url)));
  await vite.build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
  const folder = pathToFileURL(`${outDir}/`);
  for (const name of readdirSync(folder, { recursive: true }).map(String)) {
    if (!COMPRESSED.test(name)) continue;
    const file = new URL(name, folder);
    writeFileSync(new URL(`${name}.gz`, folder), gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION }));
  }
}
