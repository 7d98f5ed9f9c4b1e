import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { blocksToRun } from './doc-blocks.ts';
import { DocShell } from './doc-shell.ts';
import { freshSchema } from './postgres.ts';

/** Follows the quick starts from their first command to their last. */

const PAGES = readdirSync(resolve(import.meta.dirname, '..', 'docs', 'start')).filter(
  (name) => name.endsWith('.md') && name !== 'README.md',
);

let shell: DocShell | undefined;
afterEach(() => shell?.stop());

test.each(PAGES)(
  'every command of docs/start/%s works, in its order',
  async (name) => {
    shell = new DocShell({ replaced: { 'postgres://tollgate@db.example/tollgate': await freshSchema() } });
    const blocks = blocksToRun(join('docs/start', name), 'sh');
    expect(blocks.length).toBeGreaterThan(3);
    for (const { mark, text } of blocks) {
      if (mark === 'serve') await shell.serve(text);
      else await shell.run(text);
    }
  },
  120_000,
);
