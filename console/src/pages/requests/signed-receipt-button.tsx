import { type ReactNode, useState } from 'react';
import { ApiError, call, type Output } from '../../api/client.ts';
import { saveJson } from '../../api/download.ts';
import type { Receipt } from '../../api/generated/routes.ts';
import { printApiJson } from '../../api/json.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icons.tsx';
import { useNotices } from '../../parts/notices.tsx';

type SignedReceipt = Output<'GET /receipts/{receipt}/signed'>;

/** Saves the receipt as the gateway has signed it, to be shown to others and verified by them. */
export function SignedReceiptButton({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const { tell, tellFailure } = useNotices();
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const signed = await signedReceipt(receipt.id);
      saveJson(printApiJson(signed), `${receipt.id}.signed.json`);
      tell(`The signed receipt was saved ${signed.proof === undefined ? 'without a proof' : 'with its proof'}.`);
    } catch (error) {
      tellFailure(error instanceof Error ? error.message : 'The receipt could not be signed.');
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button busy={isBusy} disabled={receipt.status === 'open'} onClick={() => void save()}>
      <Icon name="download" size={14} />
      Download signed
    </Button>
  );
}

/** With its proof, if the receipt is closed. An archived one has none any more. */
async function signedReceipt(receipt: string): Promise<SignedReceipt> {
  const signed = await call('GET /receipts/{receipt}/signed', { receipt });
  if (!isClosed(signed)) return signed;
  try {
    return await call('GET /receipts/{receipt}/signed', { receipt, proof: true });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'refused') return signed;
    throw error;
  }
}

/** Only closed receipts have a leaf in the tree of their month. */
function isClosed({ payload }: SignedReceipt): boolean {
  const content = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { leaf: string | null };
  return content.leaf !== null;
}
