import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callServer } from '../src/cli/operator-client.ts';
import { placeOf } from '../src/custody/custody.ts';
import { systemClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { controlSocketPath } from '../src/main/books.ts';
import { DEPLOYMENT } from './cloud-resource.ts';
import { CustodyFixture, OWNER, readRefusal } from './custody-fixture.ts';
import type { MintedKey } from './harness.ts';

let custody: CustodyFixture;

beforeAll(async () => {
  custody = await CustodyFixture.start();
});
beforeEach(() => custody.renew());
afterAll(() => custody.stop());

interface Page {
  readonly key: string;
  readonly examined: number;
  readonly rewrapped: number;
  readonly unreadable: number;
  readonly next: string | null;
}

async function verb<Result>(name: string, input: object): Promise<Result> {
  const server = { socketPath: controlSocketPath(custody.harness.folder), name: 'The server', clock: systemClock };
  return JSON.parse(await callServer(server, name, input)) as Result;
}

/** Asks the running server as `tollgate seal rotate --new-key` does. */
async function rotate(): Promise<Page[]> {
  const pages = [await verb<Page>('seal.rotate', { new_key: true })];
  while (pages.at(-1)!.next !== null) pages.push(await verb<Page>('seal.rotate', { after: pages.at(-1)!.next }));
  return pages;
}

interface Status {
  readonly keys: readonly { id: string; use: string; rows: number }[];
  readonly rows: number;
  readonly unreadable: number;
}

/** Rows of idle accounts, so that a rotation has several pages. */
async function fillStore(count: number): Promise<void> {
  const { books, gateway } = custody.harness.running;
  for (let made = 0; made < count; made++) {
    const id = books.ids.next();
    await books.store.createAccount({ id, name: `filler-${id}`, kind: 'prepaid', createdMs: 1 });
    const place = { id, accountId: id, provider: 'cloud', baseUrl: custody.resource.baseUrl };
    const sealed = gateway.sealer.seal(Buffer.from(custody.resource.key), placeOf(place));
    await books.store.putProviderKey({ ...place, lastFour: '', sealed, createdMs: 1, verifiedMs: 1 });
  }
}

describe('rotation under load', () => {
  test('fails no call and loses no key, while keys are stored, used and replaced', async () => {
    await fillStore(LIMITS.sealRotationRows + 20);
    const callers = await Promise.all(Array.from({ length: 6 }, () => custody.harness.mint(OWNER)));
    for (const { secret } of callers) await custody.putKey({}, secret);
    const statuses = new Map<string, number>();
    const count = (what: string): void => void statuses.set(what, (statuses.get(what) ?? 0) + 1);
    let rotating = true;
    const work = async ({ secret }: MintedKey, at: number): Promise<void> => {
      for (let turn = 0; rotating || turn < 5; turn++) {
        const stream = turn % 3 === 2;
        const answer = await custody.chat(DEPLOYMENT, { stream }, secret);
        await answer.text();
        count(`call ${answer.status}`);
        if (at === 0) count(`put ${(await custody.putKey({}, secret)).status}`);
      }
    };
    const working = Promise.all(callers.map(work));
    const rotations = [await rotate(), await rotate()];
    rotating = false;
    await working;
    expect([...statuses.keys()].sort()).toEqual(['call 200', 'put 200']);
    for (const pages of rotations) {
      expect(pages.length).toBeGreaterThanOrEqual(2);
      expect(pages.reduce((sum, { unreadable }) => sum + unreadable, 0)).toBe(0);
    }
    const { keys, rows, unreadable } = await verb<Status>('seal.status', {});
    expect(unreadable).toBe(0);
    expect(keys.map(({ use, rows: under }) => [use, under])).toEqual([
      ['seals', rows],
      ['opens', 0],
      ['opens', 0],
    ]);
  });

  test('done, the old keys may go; not done, their rows fail closed and come back with the key', async () => {
    await custody.putKey();
    const keyFile = join(custody.harness.folder, 'master.key');
    const before = readFileSync(keyFile, 'utf8');
    await rotate();
    const [newest] = readFileSync(keyFile, 'utf8').match(/^[^#\s]+$/gm)!;
    writeFileSync(keyFile, `${newest}\n`);
    await verb('seal.rotate', {});
    expect((await custody.chat(DEPLOYMENT)).status).toBe(200);
    // An operator who goes back to the old keys has removed the key that encrypts the rows.
    writeFileSync(keyFile, before);
    await verb('seal.rotate', {});
    const lost = await readRefusal(await custody.chat(DEPLOYMENT));
    expect(lost).toMatchObject({ status: 422, type: 'upstream_error' });
    expect(lost.message).toContain('"cloud" has a stored key that can no longer be decrypted');
    expect(await (await custody.keys('GET')).json()).toMatchObject({ status: 'unreadable' });
    expect((await verb<Status>('seal.status', {})).unreadable).toBeGreaterThan(0);
    writeFileSync(keyFile, `${before}${newest}\n`);
    await verb('seal.rotate', {});
    expect((await custody.chat(DEPLOYMENT)).status).toBe(200);
    expect(await (await custody.keys('GET')).json()).toMatchObject({ status: 'verified' });
  });
});

describe('a sealed row that was moved', () => {
  async function move(change: object): Promise<void> {
    await custody.putKey();
    const { store } = custody.harness.running.books;
    const row = (await store.findProviderKey(custody.minted.accountId, 'cloud'))!;
    await store.deleteProviderKey(row.accountId, row.provider);
    await store.putProviderKey({ ...row, ...change });
  }

  async function expectClosed(secret = custody.minted.secret): Promise<void> {
    custody.resource.reset();
    for (const model of [DEPLOYMENT, `cloud/${DEPLOYMENT}`]) {
      const answer = await custody.chat(model, {}, secret);
      expect(answer.headers.get('x-gateway-cost-nanousd')).toBe('0');
      expect(await readRefusal(answer)).toMatchObject({ status: 422, type: 'upstream_error' });
    }
    const shown = await custody.keys('GET', '/cloud', undefined, secret);
    expect(await shown.json()).toMatchObject({ provider: 'cloud', status: 'unreadable' });
    expect(custody.resource.calls).toHaveLength(0);
  }

  test('to another account does not open', async () => {
    const thief = await custody.harness.mint();
    await move({ accountId: thief.accountId });
    await expectClosed(thief.secret);
  });

  test('to another base URL does not open', async () => {
    await move({ baseUrl: custody.resource.baseUrl.replace('127.0.0.1', 'localhost') });
    await expectClosed();
  });

  test('to another row of the same account does not open', async () => {
    await move({ id: custody.harness.running.books.ids.next() });
    await expectClosed();
  });

  test('and can be stored again by its owner', async () => {
    await move({ id: custody.harness.running.books.ids.next() });
    expect((await custody.putKey()).status).toBe(200);
    expect((await custody.chat(DEPLOYMENT)).status).toBe(200);
  });
});
