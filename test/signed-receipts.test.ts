import { randomBytes } from 'node:crypto';
import { flattenedVerify, importJWK } from 'jose';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verifyReceipt } from '../packages/client/src/verify.ts';
import type { Receipt } from '../src/canonical/receipt.ts';
import { MasterSealer, masterKey } from '../src/custody/seal.ts';
import { IdSource } from '../src/kit/ids.ts';
import { LIMITS } from '../src/limits.ts';
import type { PublicJwk } from '../src/signing/jws.ts';
import { ReceiptSigner } from '../src/signing/receipt-signer.ts';
import { verifyDocument } from '../src/signing/verify.ts';
import { type MonthSubject, openAccounts, openSubject } from './month-subject.ts';
import { audit } from './people-fixtures.ts';
import { aCredit, aHold, aSettle } from './store-fixtures.ts';

const HOUR_MS = 3_600_000;

describe.each(['sqlite', 'postgres'] as const)('signed receipts on %s', (engine) => {
  let subject: MonthSubject;
  let sealer: MasterSealer;
  let signer: ReceiptSigner;

  beforeEach(async () => {
    subject = await openSubject(engine);
    await openAccounts(subject);
    sealer = new MasterSealer([masterKey(randomBytes(32))]);
    signer = signerOf(sealer);
  });
  afterEach(() => subject.dispose());

  const signerOf = (sealing: MasterSealer, instance = 1): ReceiptSigner => {
    const { store, clock } = subject;
    return new ReceiptSigner({ store, sealer: sealing, ids: new IdSource(clock, instance), clock });
  };
  const keys = async (): Promise<readonly PublicJwk[]> => (await signer.keys.set()).keys;
  const receipt = async (id: bigint): Promise<Receipt> => (await subject.store.findReceipt(id, null))!;
  const settled = async (id: bigint): Promise<Receipt> => {
    const components = { freshNanousd: 40n, cacheWriteNanousd: 0n, cacheReadNanousd: 0n, outputNanousd: 20n };
    await subject.store.apply([
      aHold(id, 100n, { createdMs: subject.clock.nowMs(), labels: { team: 'ä"\n' } }),
      aSettle(id, 60n, { components }),
    ]);
    return receipt(id);
  };

  it('say what the receipt says, with every integer as a text, and the row of the price list', async () => {
    const signed = await signer.sign(await settled(1_000n));
    const payload = JSON.parse(Buffer.from(signed.payload, 'base64url').toString());
    expect(payload).toMatchObject({
      books: expect.stringMatching(/^books_\w+$/),
      generation: '1',
      signed_at: String(subject.clock.nowMs() / 1000),
      receipt: {
        status: 'settled',
        account: expect.stringMatching(/^acct_/),
        cost_nanousd: '60',
        held_nanousd: '100',
        http_status: '200',
        components: { fresh: '40', cache_write: '0', cache_read: '0', output: '20' },
        labels: { team: 'ä"\n' },
        price_version: 'prices-1',
      },
      price: { row: '1', row_sha256: '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b' },
    });
    expect(payload.receipt).not.toHaveProperty('refunded_nanousd');
    expect(JSON.stringify(payload)).not.toMatch(/[:[,]-?\d/);
  });

  it('are verified by a library for JWS that knows nothing of Tollgate', async () => {
    const signed = await signer.sign(await settled(1_000n));
    const [key] = await keys();
    const { payload, protectedHeader } = await flattenedVerify(signed, await importJWK({ ...key! }, 'EdDSA'));
    expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: key!.kid, typ: 'tollgate-receipt' });
    expect(Buffer.from(payload).toString()).toContain('"cost_nanousd":"60"');
  });

  it('are not made for a call that is still running', async () => {
    await subject.store.apply([aHold(1_000n, 100n, { createdMs: subject.clock.nowMs() })]);
    await expect(signer.sign(await receipt(1_000n))).rejects.toMatchObject({
      status: 409,
      code: 'receipt_not_settled',
    });
  });

  it('are made for a voided call', async () => {
    await subject.store.apply([aHold(1_000n, 100n), { kind: 'void', id: 1_000n, reason: 'test' }]);
    const { content } = verifyDocument(JSON.stringify(await signer.sign(await receipt(1_000n))), await keys());
    expect(content).toMatchObject({ status: 'voided', cost_nanousd: '0' });
  });

  it('come with every refund, also if these are more than one page', async () => {
    const { storePageRowsMax } = LIMITS;
    onTestFinished(() => void Object.assign(LIMITS, { storePageRowsMax }));
    const refunded = await settled(1_000n);
    const ids = [1n, 2n, 3n, 4n, 5n];
    await subject.store.apply(ids.map((id) => aCredit(7_000n + id, 1n, { callId: 1_000n })));
    Object.assign(LIMITS, { storePageRowsMax: 2 });
    expect(await signer.signRefunds(refunded)).toHaveLength(ids.length);
  });

  it('are signed by one key, whoever makes it first', async () => {
    const signers = [1, 2, 3, 4].map((instance) => signerOf(sealer, instance));
    const sets = await Promise.all(signers.map((one) => one.keys.set()));
    expect(sets[0]!.keys).toHaveLength(1);
    for (const set of sets) expect(set).toEqual(sets[0]);
  });

  it('stay verifiable after a rotation; the new key is listed before it signs', async () => {
    const first = await signer.sign(await settled(1_000n));
    const [old] = await keys();
    const fromMs = subject.clock.nowMs() + HOUR_MS;
    expect(await signer.keys.rotate(fromMs, false, () => audit('receipt_key.rotate'))).toMatchObject({
      kind: 'rotated',
    });
    const between = await signer.sign(await receipt(1_000n));
    expect(await signer.keys.rotate(fromMs, false, () => audit('receipt_key.rotate'))).toEqual({ kind: 'pending' });
    subject.clock.advance(HOUR_MS);
    const second = await signer.sign(await receipt(1_000n));
    const all = await keys();
    expect(all).toMatchObject([{ kid: old!.kid, exp: fromMs / 1000 }, { nbf: fromMs / 1000 }]);
    expect(all[1]).not.toHaveProperty('exp');
    const kids = [first, between, second].map((one) => verifyDocument(JSON.stringify(one), all).kid);
    expect(kids).toEqual([old!.kid, old!.kid, all[1]!.kid]);
    for (const one of [first, between, second]) await verifyReceipt(one, { keys: all });
  });

  it('are refused with a key that is not in the set, or that had ceased to sign', async () => {
    const text = JSON.stringify(await signer.sign(await settled(1_000n)));
    const [key] = await keys();
    const wrongs: [PublicJwk[], string][] = [
      [[{ ...key!, kid: 'other' }], 'is not in the key set'],
      [[{ ...key!, exp: key!.nbf - 1 }], 'did not sign at the time'],
      [[{ ...key!, nbf: key!.nbf + 1 }], 'did not sign at the time'],
    ];
    for (const [set, reason] of wrongs) {
      expect(() => verifyDocument(text, set)).toThrow(reason);
      await expect(verifyReceipt(text, { keys: set })).rejects.toThrow(reason);
    }
    const other = { ...key!, x: Buffer.from(randomBytes(32)).toString('base64url') };
    expect(() => verifyDocument(text, [other])).toThrow('The key set is invalid');
    await expect(verifyReceipt(text, { keys: [other] })).rejects.toThrow();
  });

  it('are not signed with a private key that was copied beside another public key', async () => {
    const found = await settled(1_000n);
    await signer.keys.ensure();
    await signer.keys.rotate(subject.clock.nowMs(), true, () => audit('receipt_key.rotate'));
    await subject.sql('UPDATE receipt_key SET sealed = (SELECT sealed FROM receipt_key WHERE number = 1)');
    await expect(signer.sign(found)).rejects.toThrow('cannot be decrypted');
  });

  it('are refused if the key cannot be decrypted, until it is rotated', async () => {
    const found = await settled(1_000n);
    await signer.keys.ensure();
    const stranger = signerOf(new MasterSealer([masterKey(randomBytes(32))]), 2);
    await expect(stranger.sign(found)).rejects.toThrow('cannot be decrypted');
    await stranger.keys.rotate(subject.clock.nowMs(), true, () => audit('receipt_key.rotate'));
    expect(verifyDocument(JSON.stringify(await stranger.sign(found)), await keys()).kind).toBe('receipt');
  });
});
