import { z } from 'zod';
import { GatewayError } from '../canonical/errors.ts';
import { MasterKeyError } from '../custody/master-keys.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import { LIMITS } from '../limits.ts';
import type { Jws, PublicJwk } from '../signing/jws.ts';
import { jwkSet } from '../signing/receipt-keys.ts';
import { ReceiptSigner, type SignedReceipt } from '../signing/receipt-signer.ts';
import { auditRow } from './actor.ts';
import { OperatorError } from './error.ts';
import { receiptNamed } from './lookup.ts';
import type { OperatorServices } from './services.ts';

export const receiptSigning = z.strictObject({ receipt: z.string(), proof: z.boolean().default(false) });

export const refundSigning = z.strictObject({ receipt: z.string() });

export const receiptKeyRotation = z.strictObject({
  /** The new key signs at once, before everybody has read it. */
  now: z.boolean().default(false),
});

export interface ReceiptKeysView {
  readonly object: 'receipt_keys';
  readonly keys: readonly PublicJwk[];
}

export async function signReceipt(
  services: OperatorServices,
  { receipt, proof }: z.output<typeof receiptSigning>,
): Promise<SignedReceipt> {
  const found = await receiptNamed(services, receipt);
  return refusing(async () => (await signerOf(services)).sign(found, proof));
}

export async function signRefunds(
  services: OperatorServices,
  { receipt }: z.output<typeof refundSigning>,
): Promise<{ readonly object: 'list'; readonly data: readonly Jws[] }> {
  const found = await receiptNamed(services, receipt);
  return { object: 'list', data: await refusing(async () => (await signerOf(services)).signRefunds(found)) };
}

export async function listReceiptKeys({ store }: OperatorServices): Promise<ReceiptKeysView> {
  return { object: 'receipt_keys', ...jwkSet(await store.directory.receiptKeys()) };
}

export async function rotateReceiptKey(
  services: OperatorServices,
  { now }: z.output<typeof receiptKeyRotation>,
): Promise<ReceiptKeysView> {
  const fromMs = services.clock.nowMs() + (now ? 0 : LIMITS.receiptKeyOverlapMs);
  const rotation = await refusing(async () =>
    (await signerOf(services)).keys.rotate(fromMs, now, (kid) =>
      auditRow(services, { action: 'receipt_key.rotate', subject: kid, after: { from: toSeconds(fromMs) } }),
    ),
  );
  if (rotation.kind === 'rotated') return { object: 'receipt_keys', ...rotation.keys };
  if (rotation.kind === 'too_many')
    throw new OperatorError('refused', `There are ${LIMITS.receiptKeysMax} keys already, which is the maximum.`);
  throw new OperatorError(
    'refused',
    'The newest key does not sign yet. Rotate again when it does, or use --now.',
    'tollgate receipts keys',
  );
}

async function signerOf({ store, ids, clock, masterKeys, onMismatch }: OperatorServices): Promise<ReceiptSigner> {
  const alarm = onMismatch === undefined ? {} : { onMismatch };
  const { sealer } = await masterKeys(true);
  return new ReceiptSigner({ store, sealer, ids, clock, ...alarm });
}

/** Throws what cannot be signed as an OperatorError. */
async function refusing<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof GatewayError || error instanceof MasterKeyError)
      throw new OperatorError('refused', error.message);
    throw error;
  }
}
