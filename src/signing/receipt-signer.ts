import { GatewayError } from '../canonical/errors.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { Directory } from '../store/directory.ts';
import { type Jws, signJws } from './jws.ts';
import { ReceiptKeys, type ReceiptKeyTerms } from './receipt-keys.ts';
import { type PriceRow, priceRowOf, receiptStatement } from './statements.ts';

export interface SignerTerms extends ReceiptKeyTerms {
  readonly rows: Pick<Directory, 'receiptKeys' | 'addReceiptKey' | 'booksMark' | 'pricesOf'>;
}

/** Price rows that are remembered. */
const PRICES_MAX = 1_000;

/** Signs receipts when somebody asks for one; a call never waits for it. */
export class ReceiptSigner {
  readonly keys: ReceiptKeys;
  readonly #terms: SignerTerms;
  /** Price lists never change. */
  readonly #prices = new Map<string, PriceRow | null>();

  constructor(terms: SignerTerms) {
    this.#terms = terms;
    this.keys = new ReceiptKeys(terms);
  }

  /** Throws a GatewayError if the receipt cannot be signed. */
  async sign(receipt: Receipt): Promise<Jws> {
    if (receipt.state === 'open') throw notSettled();
    const { rows, clock } = this.#terms;
    const nowMs = clock.nowMs();
    const origin = { ...(await rows.booksMark()), nowMs };
    const statement = receiptStatement(origin, receipt, await this.#priceOf(receipt), null);
    return signJws('tollgate-receipt', statement, await this.keys.signing(nowMs));
  }

  async #priceOf({ priceVersion, effectiveModel }: Receipt): Promise<PriceRow | null> {
    const name = `${priceVersion} ${effectiveModel}`;
    const known = this.#prices.get(name);
    if (known !== undefined) return known;
    const row = priceRowOf(await this.#terms.rows.pricesOf(priceVersion), effectiveModel);
    if (this.#prices.size >= PRICES_MAX) this.#prices.clear();
    this.#prices.set(name, row);
    return row;
  }
}

function notSettled(): GatewayError {
  return new GatewayError('receipt_not_settled', {
    param: 'signed',
    message: 'This call is still running, so that its receipt is not signed yet. Ask again when the call has ended.',
  });
}
