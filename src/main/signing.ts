import { ReceiptSigner } from '../signing/receipt-signer.ts';
import type { Books } from './books.ts';
import type { Entrusted } from './custody.ts';
import type { StartTerms } from './start-terms.ts';

/** What signs receipts. Its first key is made before anybody asks for it. */
export async function openSigner(
  { clock }: StartTerms,
  { store, ids }: Pick<Books, 'store' | 'ids'>,
  { keyring }: Pick<Entrusted, 'keyring'>,
): Promise<ReceiptSigner> {
  const signer = new ReceiptSigner({ rows: store.directory, sealer: keyring.sealer, ids, clock });
  await signer.keys.ensure();
  return signer;
}
