import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INSTALLED_PYTHON, PYTHON_PACKAGES, pythonWithPackages } from '../campaigns/clients/python-packages.ts';
import { DISK_VARIABLE } from '../campaigns/disk-folder.ts';
import { blocksToRun, PAGES_WITH_CODE } from './doc-blocks.ts';
import { type Harness, startHarness } from './harness.ts';

/** Runs the Python of the pages, where Python and the packages are there. `npm run clients:python` installs them. */

const PAGES = PAGES_WITH_CODE.filter((page) => blocksToRun(page, 'py').length > 0);
const python = pythonWithPackages();
if (python === null)
  process.stderr.write('Skipped the Python of the pages: npm run clients:python installs what it needs.\n');

let harness: Harness;
let key: string;
beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  key = (await harness.mint({})).secret;
});
afterAll(() => harness.stop());

/** The blocks of a page are one program, which prints at its end the receipts that it collected. */
function programOf(page: string): string {
  const code = blocksToRun(page, 'py').map(({ text }) => text);
  return [...code, 'import json', 'print()', 'print(json.dumps(receipts))']
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', harness.url)
    .replaceAll('tg_live_…', key)
    .replaceAll('claude-sonnet-4-5', 'sim-claude')
    .replaceAll('gpt-5-mini', 'sim-gpt-mini');
}

test.skipIf(python === null).each(PAGES)(
  'the Python of %s runs, and its receipts are those of the ledger',
  async (page) => {
    const { stdout } = await promisify(execFile)(python!, ['-c', programOf(page)], { env: {} });
    const receipts = JSON.parse(stdout.trim().split('\n').at(-1)!) as { id: string; cost_nanousd: number }[];
    expect(receipts.length).toBeGreaterThan(1);
    for (const { id, cost_nanousd } of receipts) {
      expect(cost_nanousd).toBeGreaterThan(0);
      expect(cost_nanousd).toBe((await harness.receipt(id, key)).cost_nanousd);
    }
  },
);

test('the packages are looked for on the disk, where one run after another finds them', () => {
  const disk = process.env[DISK_VARIABLE] ?? tmpdir();
  expect(INSTALLED_PYTHON.slice(0, disk.length + 1)).toBe(join(disk, '/'));
});

test('the page names the versions that are run', () => {
  const page = readFileSync(resolve(import.meta.dirname, '..', 'docs', 'clients', 'python.md'), 'utf8');
  for (const [name, version] of Object.entries(PYTHON_PACKAGES)) expect(page).toContain(`\`${name}\` ${version}`);
});
