import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../src/cli/run.ts';
import { readStore } from '../src/config/store.ts';
import { type Clock, systemClock } from '../src/kit/clock.ts';
import { compose } from '../src/main/compose.ts';
import { type Harness, startHarness } from './harness.ts';
import { freshSchema, runSql } from './postgres.ts';

const DAY_MS = 86_400_000;
const HELLO = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 };

describe.each(['sqlite', 'postgres'] as const)('an archived receipt on %s', (engine) => {
  let home: string;
  let folder: string;
  let archive: string;
  let place: string | null;
  let harness: Harness;
  let lateMs: number;
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() - lateMs };

  /** Calls are made 40 days ago; then the clock is right. On PostgreSQL, which has a clock of its own, they are moved there. */
  beforeEach(async () => {
    lateMs = 40 * DAY_MS;
    home = mkdtempSync(join(tmpdir(), 'tollgate-archived-'));
    [folder, archive] = [join(home, 'data'), join(home, 'archive')];
    mkdirSync(folder);
    place = engine === 'sqlite' ? null : await freshSchema();
    const store = place === null ? null : readStore(place);
    const settings = { retention: { archive_folder: archive }, ...(place !== null && { store: place }) };
    writeFileSync(join(home, 'config.json'), JSON.stringify(settings));
    const retention = { receiptsDays: null, archiveFolder: archive };
    harness = await startHarness({ folder, clock, config: { retention, store } });
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(home, { recursive: true });
  });

  async function command(...args: string[]) {
    const [said, advised]: [string[], string[]] = [[], []];
    const terminal = {
      writeOut: (text: string) => void said.push(text),
      writeErr: (text: string) => void advised.push(text),
    };
    const env = { HOME: home, TOLLGATE_DATA: folder, TOLLGATE_CONFIG: join(home, 'config.json') };
    const code = await runCli(args, env, compose({ program: 'tollgate', terminal, cwd: home, clock }));
    return { code, text: said.join(''), advice: advised.join('') };
  }

  test('is shown to its caller, in the management API and on the command line as before, and to nobody else', async () => {
    const [owner, stranger] = [await harness.mint(), await harness.mint()];
    const bearer = ({ secret }: { readonly secret: string }) => ({ authorization: `Bearer ${secret}` });
    const answer = await harness.post(HELLO, bearer(owner));
    await answer.text();
    const id = answer.headers.get('x-gateway-request-id')!;
    await harness.settled();
    if (place !== null) await runSql(place, `UPDATE call SET created_ms = created_ms - ${lateMs}`);
    lateMs = 0;
    const token = readFileSync(join(folder, 'console.token'), 'utf8').trim();
    const ask = async (path: string, headers: Record<string, string>) => {
      const response = await harness.get(path, headers);
      return [response.status, await response.json()] as const;
    };
    const ways = async () => ({
      caller: await ask(`/v1/receipts/${id}`, bearer(owner)),
      operator: await ask(`/manage/v1/receipts/${id}`, { authorization: `Bearer ${token}` }),
      stranger: (await ask(`/v1/receipts/${id}`, bearer(stranger)))[0],
      command: await command('receipts', 'show', id, '--json'),
    });
    const before = await ways();
    const verdict = async () => (await command('store', 'archive', '--check', archive)).advice;
    expect(await verdict()).toContain('No receipts of this ledger have been archived');
    expect([before.caller[0], before.operator[0], before.stranger, before.command.code]).toEqual([200, 200, 404, 0]);
    await harness.running.books.store.closeBooks(null);
    const archived = await command('store', 'archive', '--before', '10d', '--to', archive, '--json');
    expect(JSON.parse(archived.text)).toMatchObject({ deleted: 1, files: [{ receipts: 1 }] });
    expect(await verdict()).toContain('The archive is complete.');
    expect(await ask('/v1/receipts', bearer(owner))).toMatchObject([200, { data: [] }]);
    expect(await ways()).toEqual(before);
  });
});
