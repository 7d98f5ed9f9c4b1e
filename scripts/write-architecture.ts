import { readFileSync, writeFileSync } from 'node:fs';
import { withLayerTable } from '../test/tidy/architecture-page.ts';

/** Writes the table of layers in ARCHITECTURE.md from the data that the tests hold. */
const page = new URL('../ARCHITECTURE.md', import.meta.url);
writeFileSync(page, withLayerTable(readFileSync(page, 'utf8')));
