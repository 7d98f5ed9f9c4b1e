import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyReceipt } from '../packages/client/src/verify.ts';
import type { Receipt } from '../src/canonical/receipt.ts';
import { MasterSealer, masterKey } from '../src/custody/seal.ts';
import { IdSource } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import type { PublicJwk } from '../src/signing/jws.ts';
import { type ReceiptMismatch, ReceiptSigner, type SignedReceipt } from '../src/signing/receipt-signer.ts';
import { verifyDocument } from '../src/signing/verify.ts';
import { openRoot } from '../src/signing/verify-proof.ts';
import { CHUNK_LEAVES } from '../src/store/month-tree.ts';
import { backUp } from '../src/store/sqlite/backup.ts';
import { restoreBooks } from '../src/store/sqlite/restore.ts';
import { type MonthSubject, openAccounts, openSubject } from './month-subject.ts';
import { audit } from './people-fixtures.ts';
import { aHold, aSettle } from './store-fixtures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe.each(['sqlite', 'postgres'] as const)('proofs of closed receipts on %s', (engine) => {
  let subject: MonthSubject;
  let archive: string;
  let sealer: MasterSealer;
  let signer: ReceiptSigner;
  let alarms: ReceiptMismatch[];
  let nextId: bigint;

  beforeEach(async () => {
    archive = mkdtempSync(join(tmpdir(), 'tollgate-proofs-'));
    subject = await openSubject(engine, archive);
    await openAccounts(subject);
    sealer = new MasterSealer([masterKey(randomBytes(32))]);
    alarms = [];
    signer = signerOf();
    nextId = 1_000n;
  });
  afterEach(async () => {
    await subject.dispose();
    rmSync(archive, { recursive: true });
  });

  const signerOf = (): ReceiptSigner => {
    const { store, clock } = subject;
    const ids = new IdSource(clock, 1);
    return new ReceiptSigner({ store, sealer, ids, clock, onMismatch: (mismatch) => void alarms.push(mismatch) });
  };
  const keys = async (): Promise<readonly PublicJwk[]> => (await signer.keys.set()).keys;
  const receipt = async (id: bigint): Promise<Receipt> => (await subject.store.findReceipt(id, null))!;

  /** This many settled calls of these accounts in turn, a minute apart; returns their ids. */
  const make = async (count: number, accounts: readonly bigint[] = [1n, 2n, 3n]): Promise<bigint[]> => {
    const ids = Array.from({ length: count }, () => nextId++);
    const operations = ids.flatMap((id, at) => {
      const accountId = accounts[at % accounts.length]!;
      const createdMs = subject.clock.nowMs() + at * 60_000;
      return [aHold(id, 9n, { accountId, createdMs }), aSettle(id, BigInt(at % 9))];
    });
    await subject.store.apply(operations);
    subject.clock.advance(count * 60_000);
    return ids;
  };
  const close = async (): Promise<void> => {
    subject.clock.advance(2 * HOUR_MS);
    await subject.store.closeBooks(null);
  };
  const nextMonth = (): void => subject.clock.advance(31 * DAY_MS);

  /** What both verifiers say about the document; they must agree. */
  const verified = async (document: unknown) => {
    const text = JSON.stringify(document);
    const set = await keys();
    const { root } = verifyDocument(text, set);
    expect((await verifyReceipt(text, { keys: set })).root).toEqual(root?.content);
    return root;
  };
  const proved = async (id: bigint): Promise<SignedReceipt> => signer.sign(await receipt(id), true);

  it('lead to the signed root of the month, from any receipt of any account, with chunks and behind them', async () => {
    const ids = await make(3 * CHUNK_LEAVES + 40);
    await close();
    for (const at of [0, 1, 2, 3 * 70, 3 * CHUNK_LEAVES - 1, 3 * CHUNK_LEAVES, ids.length - 1]) {
      const root = await verified(await proved(ids[at]!));
      expect(root!.content).toMatchObject({ month: '2026-01', final: false, number: '1', previous: null });
    }
    expect(await subject.store.verify()).toMatchObject({ violations: [] });
  });

  it('are not there before the receipt is closed, which is signed without them', async () => {
    const [id] = await make(1);
    await expect(proved(id!)).rejects.toMatchObject({ status: 409, code: 'proof_unavailable', param: 'proof' });
    const { payload } = await signer.sign(await receipt(id!));
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ leaf: null });
  });

  it('fail for a receipt that is changed in the database: it is not signed, and somebody is told', async () => {
    const ids = await make(12);
    await close();
    const before = await proved(ids[3]!);
    await subject.sql(`UPDATE call SET cost = cost + 1 WHERE id = ${ids[3]}`);
    for (const withProof of [false, true])
      await expect(signer.sign(await receipt(ids[3]!), withProof)).rejects.toMatchObject({
        code: 'receipt_not_signed',
      });
    expect(alarms).toHaveLength(2);
    expect(alarms[0]).toMatchObject({ month: '2026-01', account: expect.stringMatching(/^acct_/) });
    // What was signed before still proves what it was.
    expect(await verified(before)).toMatchObject({ content: { month: '2026-01' } });
    expect(await verified(await proved(ids[4]!))).toBeDefined();
  });

  it.each([
    ['moved to another account', 'UPDATE call SET account_id = 2 WHERE id = 1003'],
    ['added', 'UPDATE call SET id = 1100 WHERE id = 1000'],
    ['missing', 'DELETE FROM call WHERE id = 1000'],
  ])('fail for a receipt beside which one is %s', async (_, change) => {
    const ids = await make(12);
    await close();
    await subject.sql(change);
    await expect(signer.sign(await receipt(ids[9]!))).rejects.toMatchObject({ code: 'receipt_not_signed' });
    expect(alarms).toHaveLength(1);
  });

  it('fail with any changed step, salt, sum, or root', async () => {
    const ids = await make(30);
    await close();
    const document = await proved(ids[10]!);
    const other = await proved(ids[11]!);
    const proof = document.proof!;
    const changes: object[] = [
      { ...proof, receipts: '11' },
      { ...proof, spent_nanousd: `${proof.spent_nanousd}0` },
      { ...proof, salt: other.proof!.salt },
      { ...proof, month: '2026-02' },
      { ...proof, receipt_path: proof.receipt_path.slice(1) },
      { ...proof, receipt_path: other.proof!.receipt_path },
      { ...proof, account_path: proof.account_path.slice(1) },
      { ...proof, account_path: [...proof.account_path, ...proof.account_path] },
      { ...proof, root: document },
    ];
    const set = await keys();
    for (const changed of changes) {
      const text = JSON.stringify({ ...document, proof: changed });
      expect(() => verifyDocument(text, set), text).toThrow();
      await expect(verifyReceipt(text, { keys: set })).rejects.toThrow();
    }
    expect(() => verifyDocument(JSON.stringify({ ...other, proof }), set)).toThrow('does not lead to the root');
    const bytes = Buffer.from(JSON.stringify(document));
    for (let bit = 0; bit < bytes.length * 8; bit += 23) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => verifyDocument(changed.toString(), set), String(bit)).toThrow();
      await expect(verifyReceipt(changed.toString(), { keys: set }), String(bit)).rejects.toThrow();
    }
  });

  it('say nothing about other accounts: their leaves are salted, and the salt is secret', async () => {
    const ids = await make(9);
    await close();
    const [one, two] = [(await proved(ids[0]!)).proof!, (await proved(ids[1]!)).proof!];
    expect(one.salt).not.toBe(two.salt);
    const salts = await subject.sql('SELECT salt FROM month_salt');
    expect(JSON.stringify([one, two])).not.toContain(Buffer.from(salts[0]!.salt as Uint8Array).toString('hex'));
  });

  it('are chained: each root names the one before it, and a month that has ended has a final one', async () => {
    await make(5);
    await close();
    expect(await signer.roots.signClosed()).toBe(1);
    await make(5);
    await close();
    expect(await signer.roots.signClosed()).toBe(1);
    expect(await signer.roots.signClosed()).toBe(0);
    nextMonth();
    await make(5);
    await close();
    expect(await signer.roots.signClosed()).toBe(2);
    const rows = await subject.sql('SELECT * FROM month_root ORDER BY number');
    const set = await keys();
    const roots = rows.map(({ statement }) => openRoot(JSON.parse(statement as string), set).content);
    expect(roots.map(({ number, month, final }) => [number, month, final])).toEqual([
      ['1', '2026-01', false],
      ['2', '2026-01', false],
      ['3', '2026-01', true],
      ['4', '2026-02', false],
    ]);
    const hashes = rows.map(({ statement }) =>
      sha256(Buffer.from(JSON.parse(statement as string).payload, 'base64url')),
    );
    expect(roots.map(({ previous }) => previous)).toEqual([null, ...hashes.slice(0, -1)]);
  });

  it('are signed once, however many processes sign at the same time', async () => {
    const ids = await make(6);
    await close();
    const found = await receipt(ids[0]!);
    const documents = await Promise.all([1, 2, 3, 4].map(() => signerOf().sign(found, true)));
    expect(new Set(documents.map(({ proof }) => proof!.root.payload)).size).toBe(1);
    expect(await subject.sql('SELECT number FROM month_root')).toHaveLength(1);
  });

  it('are of a new generation after the ledger was put back, and continue the chain', async () => {
    const ids = await make(4);
    await close();
    const before = await verified(await proved(ids[0]!));
    const { place, clock } = subject;
    const file = join(archive, 'backup.sqlite');
    if (engine === 'sqlite') await backUp({ folder: place, file, clock });
    await subject.reopen(async () => {
      // On PostgreSQL, the process that notices raises the generation.
      if (engine === 'postgres') await subject.sql("UPDATE meta SET value = value + 1 WHERE name = 'generation'");
      else restoreBooks({ folder: place, file, clock, force: true, progress: () => undefined });
    });
    signer = signerOf();
    const after = await verified(await proved(ids[0]!));
    expect([before!.generation, after!.generation]).toEqual(['1', '2']);
    expect(after!.content).toMatchObject({ number: '2', root: before!.content.root });
    expect(after!.content.previous).not.toBeNull();
    expect(await signer.roots.signClosed()).toBe(0);
  });

  it('stay verifiable after the key was rotated', async () => {
    const ids = await make(4);
    await close();
    const document = await proved(ids[0]!);
    await signer.keys.rotate(subject.clock.nowMs() + 1_000, false, () => audit('receipt_key.rotate'));
    subject.clock.advance(5_000);
    expect(await verified(document)).toMatchObject({ content: { number: '1' } });
    const again = await proved(ids[0]!);
    expect(again.proof!.root).toEqual(document.proof!.root);
    expect(await verified(again)).toBeDefined();
  });

  it('go on behind receipts that were deleted; an archived receipt is signed with its leaf, without a proof', async () => {
    const early = await make(20, [1n]);
    await close();
    const first = await signer.sign(await receipt(early[0]!));
    nextMonth();
    const late = await make(5, [1n]);
    await close();
    await subject.store.archive.run({
      ...{ folder: archive, clock: subject.clock, audit: () => audit('store.archive') },
      beforeMs: subject.clock.nowMs() - 20 * DAY_MS,
    });
    expect(await subject.sql(`SELECT id FROM call WHERE id <= ${early.at(-1)}`)).toEqual([]);
    const archived = await signer.sign(await receipt(early[0]!));
    const leafOf = ({ payload }: SignedReceipt) => JSON.parse(Buffer.from(payload, 'base64url').toString()).leaf;
    expect(leafOf(archived)).toBe(leafOf(first));
    await expect(proved(early[0]!)).rejects.toMatchObject({ code: 'proof_unavailable' });
    expect(await verified(await proved(late[0]!))).toMatchObject({ content: { month: '2026-02' } });
  });

  it('go on within a month whose first receipts were deleted', async () => {
    const ids = await make(2 * CHUNK_LEAVES + 30, [1n]);
    await close();
    const keptSinceMs = (await receipt(ids[70]!)).createdMs;
    expect(await subject.store.closeBooks(keptSinceMs)).toMatchObject({ forgotten: 70 });
    for (const at of [70, 71, CHUNK_LEAVES - 1, CHUNK_LEAVES, CHUNK_LEAVES + 29, 2 * CHUNK_LEAVES, ids.length - 1])
      expect(await verified(await proved(ids[at]!))).toBeDefined();
  });

  it('are made for receipts that an earlier version closed, if they are not too many', async () => {
    const ids = await make(CHUNK_LEAVES + 5, [1n]);
    await close();
    await subject.sql('DELETE FROM tree_chunk');
    expect(await verified(await proved(ids[7]!))).toBeDefined();
    await subject.sql(`UPDATE month_tree SET calls = ${LIMITS.proofReceiptsMax + 1}`);
    await expect(proved(ids[7]!)).rejects.toThrow('an earlier version');
    expect(alarms).toEqual([]);
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
