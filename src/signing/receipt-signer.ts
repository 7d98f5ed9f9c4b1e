import { GatewayError } from '../canonical/errors.ts';
import { ACCOUNT_PREFIX, REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Receipt } from '../canonical/receipt.ts';
import type { CacheSize } from '../kit/caches.ts';
import type { HashText } from '../kit/hash-tree.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { Credit } from '../store/entries.ts';
import { monthName } from '../store/month-tree.ts';
import type { LeafProof } from '../store/signing.ts';
import type { Store } from '../store/store.ts';
import { type Jws, signJws } from './jws.ts';
import { type AccountInRoot, type CurrentRoot, MonthRoots, TREES_MAX } from './month-roots.ts';
import { ReceiptKeys, type ReceiptKeyTerms } from './receipt-keys.ts';
import { type PriceRow, priceRowOf, receiptStatement, refundStatement } from './statements.ts';
import { hexSteps, type ReceiptProof } from './verify-proof.ts';

/** A closed receipt that is not what it was when it was closed. */
export interface ReceiptMismatch {
  readonly receipt: string;
  readonly account: string;
  readonly month: string;
}

interface SignerTerms extends Omit<ReceiptKeyTerms, 'rows'> {
  readonly store: Pick<Store, 'directory' | 'proofs' | 'archive'>;
  /** An operator has to look at the ledger. */
  onMismatch?(mismatch: ReceiptMismatch): void;
}

/** A signed receipt; with its proof, if that was asked for. */
export type SignedReceipt = Jws & { readonly proof?: ReceiptProof };

/** Price rows that are remembered. */
const PRICES_MAX = 1_000;

/** Signs receipts when somebody asks for one; a call never waits for it. */
export class ReceiptSigner {
  readonly keys: ReceiptKeys;
  readonly roots: MonthRoots;
  readonly #terms: SignerTerms;
  /** Price lists never change. */
  readonly #prices = new Map<string, PriceRow | null>();

  constructor(terms: SignerTerms) {
    const rows = terms.store.directory;
    this.#terms = terms;
    this.keys = new ReceiptKeys({ ...terms, rows });
    this.roots = new MonthRoots({ rows, keys: this.keys, clock: terms.clock });
  }

  sizes(): CacheSize[] {
    return [
      { cache: 'signed_prices', entries: this.#prices.size, entriesMax: PRICES_MAX },
      { cache: 'month_trees', entries: this.roots.trees, entriesMax: TREES_MAX },
    ];
  }

  /** Throws a GatewayError if the receipt cannot be signed, or has no proof. */
  async sign(receipt: Receipt, withProof = false): Promise<SignedReceipt> {
    if (receipt.state === 'open') throw notSettled();
    const leaf = await this.#leafOf(receipt);
    if (!withProof) return this.#signWith(receipt, leaf);
    const proof = await this.#proofOf(receipt);
    return { ...(await this.#signWith(receipt, leaf)), proof };
  }

  /** A document for each refund of the receipt, the oldest first. */
  async signRefunds({ id }: Receipt): Promise<Jws[]> {
    const { store, clock } = this.#terms;
    const refunds = await this.#refundsOf(id);
    const nowMs = clock.nowMs();
    const origin = { ...(await store.directory.booksMark()), nowMs };
    const key = await this.keys.signing(nowMs);
    return refunds.map((refund) => signJws('tollgate-refund', refundStatement(origin, refund), key));
  }

  async #refundsOf(callId: bigint): Promise<Credit[]> {
    const { directory } = this.#terms.store;
    const refunds: Credit[] = [];
    for (;;) {
      const page = await directory.listRefunds(callId, refunds.at(-1)?.id ?? null);
      refunds.push(...page);
      if (page.length < LIMITS.storePageRowsMax) return refunds;
    }
  }

  async #signWith(receipt: Receipt, leaf: HashText | null): Promise<Jws> {
    const { store, clock } = this.#terms;
    const nowMs = clock.nowMs();
    const origin = { ...(await store.directory.booksMark()), nowMs };
    const hex = leaf === null ? null : Buffer.from(leaf, 'latin1').toString('hex');
    const statement = receiptStatement(origin, receipt, await this.#priceOf(receipt), hex);
    return signJws('tollgate-receipt', statement, await this.keys.signing(nowMs));
  }

  /** The hash of a closed receipt, which is proved first; null if it is not closed yet. */
  async #leafOf(receipt: Receipt): Promise<HashText | null> {
    const { store } = this.#terms;
    const proof = await store.proofs.prove(receipt.id, receipt.accountId);
    if (proof === null) return null;
    const archived = proof.state === 'gone' ? await store.archive.leafOf(receipt.id) : null;
    return archived ?? this.#proved(receipt, proof).leaf;
  }

  async #proofOf(receipt: Receipt): Promise<ReceiptProof> {
    const { store } = this.#terms;
    for (let attempt = 0; attempt < LIMITS.monthRootAttemptsMax; attempt++) {
      const found = await store.proofs.prove(receipt.id, receipt.accountId);
      if (found === null) throw noProof(NOT_CLOSED);
      if (found.state === 'gone') throw noProof(ARCHIVED);
      const proof = this.#proved(receipt, found);
      const root = await this.roots.current(proof.monthMs);
      const account = root?.account(receipt.accountId) ?? null;
      // Otherwise calls were closed between the two reads.
      if (root !== null && account?.root === proof.root) return written(proof, account, root);
    }
    throw noProof('The month is being closed right now. Ask again in a minute.');
  }

  /** A receipt that was changed is never signed. */
  #proved(receipt: Receipt, proof: LeafProof): LeafProof {
    if (proof.state === 'too_many') throw notSigned(TOO_MANY);
    if (proof.state === 'proved') return proof;
    this.#terms.onMismatch?.({
      receipt: formatId(REQUEST_PREFIX, receipt.id),
      account: formatId(ACCOUNT_PREFIX, receipt.accountId),
      month: monthName(proof.monthMs),
    });
    throw notSigned(CHANGED);
  }

  async #priceOf({ priceVersion, effectiveModel }: Receipt): Promise<PriceRow | null> {
    const name = `${priceVersion} ${effectiveModel}`;
    const known = this.#prices.get(name);
    if (known !== undefined) return known;
    const row = priceRowOf(await this.#terms.store.directory.pricesOf(priceVersion), effectiveModel);
    if (this.#prices.size >= PRICES_MAX) this.#prices.clear();
    this.#prices.set(name, row);
    return row;
  }
}

function written(proof: LeafProof, { salt, path }: AccountInRoot, root: CurrentRoot): ReceiptProof {
  return {
    month: monthName(proof.monthMs),
    receipts: String(proof.receipts),
    spent_nanousd: String(proof.spentNanousd),
    salt,
    receipt_path: hexSteps(proof.path),
    account_path: hexSteps(path),
    root: root.statement,
  };
}

const NOT_CLOSED =
  'This receipt is not closed yet. Receipts are closed about an hour after their call; ask for the proof then.';
const ARCHIVED = 'This receipt was archived, and archived receipts have no proof. Ask for it without `proof`.';
const CHANGED =
  'This receipt, or one of the same account and month, is not what it was when it was closed, so it is not signed. Tell the operator of this gateway, who can look for the cause with "tollgate ledger verify".';
const TOO_MANY =
  'This receipt was closed by an earlier version of Tollgate, together with too many others to check it before it is signed. "tollgate ledger verify" checks all of them.';

function notSettled(): GatewayError {
  return new GatewayError('receipt_not_settled', {
    param: 'signed',
    message: 'This call is still running, so its receipt is not signed yet. Ask again when the call has ended.',
  });
}

function noProof(message: string): GatewayError {
  return new GatewayError('proof_unavailable', { param: 'proof', message });
}

function notSigned(message: string): GatewayError {
  return new GatewayError('receipt_not_signed', { message });
}
