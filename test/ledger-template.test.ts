import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

test('the template of an empty ledger leaves no folder behind', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'tollgate-template-'));
  vi.stubEnv('TMPDIR', parent);
  try {
    // Its own copy of the module: another test file of this process may have made the template already.
    vi.resetModules();
    const { copyEmptyLedger } = await import('./ledger-template.ts');
    const folder = mkdtempSync(join(parent, 'ledger-'));
    await copyEmptyLedger(folder);
    expect(readdirSync(folder)).toContain('tollgate.sqlite');
    expect(readdirSync(parent)).toHaveLength(1);
  } finally {
    vi.unstubAllEnvs();
    rmSync(parent, { recursive: true });
  }
});
