// Builds the console into dist/console, with a compressed copy of each text beside it. `npm ci` runs it too, also where the
// development packages are left out: then there is nothing to build with, and nothing to do.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';

// Whoever runs this, tests too, gets the page that people get.
process.env.NODE_ENV = 'production';

const COMPRESSED = /\.(js|css|svg)$/;

const vite = await import('vite').catch((error) => {
  if (process.argv.includes('--if-installed') && error.code === 'ERR_MODULE_NOT_FOUND') return null;
  throw error;
});

if (vite !== null) {
  await vite.build({ configFile: fileURLToPath(new URL('vite.config.ts', import.meta.url)), logLevel: 'warn' });
  const folder = new URL('../dist/console/', import.meta.url);
  for (const name of readdirSync(folder, { recursive: true }).map(String)) {
    if (!COMPRESSED.test(name)) continue;
    const file = new URL(name, folder);
    writeFileSync(new URL(`${name}.gz`, folder), gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION }));
  }
}
