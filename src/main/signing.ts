import { GatewayError } from '../canonical/errors.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { type ReceiptMismatch, ReceiptSigner } from '../signing/receipt-signer.ts';
import type { Books } from './books.ts';
import type { Core } from './core.ts';
import type { StartTerms } from './start-terms.ts';

/** What signs receipts. Its first key is made before anybody asks for it. */
export async function openSigner(
  { clock, log }: StartTerms,
  { store, ids }: Pick<Books, 'store' | 'ids'>,
  { entrusted, metrics }: Pick<Core, 'entrusted' | 'metrics'>,
): Promise<ReceiptSigner> {
  const { sealer } = entrusted.keyring;
  const signer = new ReceiptSigner({ store, sealer, ids, clock, onMismatch: mismatchAlarm(log, metrics) });
  await signer.keys.ensure();
  await reportUnusableKey(signer, clock, log);
  return signer;
}

/** Calls go on without it, so without this line nobody would notice before the first caller asks for a signature. */
async function reportUnusableKey({ keys }: ReceiptSigner, clock: Clock, log: Log): Promise<void> {
  try {
    await keys.signing(clock.nowMs());
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    log.error({ code: error.code }, `No receipt can be signed. ${error.message}`);
  }
}

export function mismatchAlarm(log: Log, { notices }: Metrics): (mismatch: ReceiptMismatch) => void {
  return (mismatch) => {
    notices.receiptMismatch();
    log.error(
      { ...mismatch },
      'A closed receipt, or one beside it, was changed in the ledger, so it was not signed. Run "tollgate ledger verify".',
    );
  };
}
