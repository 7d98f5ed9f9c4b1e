import { counted } from '../kit/counted.ts';
import {
  CHUNK_LEAVES,
  type ClosedMonth,
  MONTH_PART,
  MonthTree,
  type MonthTreeRow,
  monthName,
  type TreeChunkRow,
} from './month-tree.ts';
import { FORM, type FormRow, type ReceiptForm } from './receipt-form.ts';

/** Compares the receipts of closed months with the sums and hashes that were stored when they were closed. */
export class MonthCheck {
  readonly #form: ReceiptForm;
  readonly #violate: (sentence: string) => void;
  readonly #trees = new Map<bigint, MonthTree>();
  #month: ClosedMonth | null = null;
  #months = 0;
  #receipts = 0;

  constructor(form: ReceiptForm, violate: (sentence: string) => void) {
    this.#form = form;
    this.#violate = violate;
  }

  /** How many months were compared, and how many receipts of them were read. */
  get done(): { readonly months: number; readonly receipts: number } {
    return { months: this.#months, receipts: this.#receipts };
  }

  /** Receipts that were deleted begin an account's tree, so that those that are left can be appended. */
  begin(month: ClosedMonth, deleted: Iterable<MonthTreeRow>): void {
    this.#month = month;
    this.#trees.clear();
    for (const row of deleted) {
      try {
        this.#trees.set(row.account_id, new MonthTree(row));
      } catch (error) {
        this.#say(row.account_id, `the record of its deleted receipts is damaged (${(error as Error).message})`);
      }
    }
  }

  /** The month's receipts, in the order of their ids. */
  add(rows: readonly FormRow[]): void {
    for (const row of rows) {
      const accountId = row[1];
      let tree = this.#trees.get(accountId);
      if (tree === undefined) {
        tree = new MonthTree();
        this.#trees.set(accountId, tree);
      }
      tree.append(row, this.#form);
    }
    this.#receipts += rows.length;
  }

  end(closed: Iterable<MonthTreeRow>, chunks: Iterable<TreeChunkRow>): void {
    const wrongChunks = this.#wrongChunks(chunks);
    for (const row of closed) {
      const tree = this.#trees.get(row.account_id) ?? new MonthTree();
      this.#trees.delete(row.account_id);
      const now = tree.rowOf(row.month_ms, row.account_id, MONTH_PART.closed);
      const finding = differenceOf(row, now) ?? wrongChunk(wrongChunks.get(row.account_id));
      if (finding !== null) this.#say(row.account_id, finding);
    }
    for (const accountId of this.#trees.keys()) this.#say(accountId, 'it has receipts, but was closed with none');
    this.#trees.clear();
    this.#months += 1;
  }

  /** The first wrong chunk of each account. */
  #wrongChunks(chunks: Iterable<TreeChunkRow>): Map<bigint, bigint> {
    const wrong = new Map<bigint, bigint>();
    for (const chunk of chunks) {
      const tree = this.#trees.get(chunk.account_id);
      if (tree !== undefined && !wrong.has(chunk.account_id) && !tree.hasChunk(chunk))
        wrong.set(chunk.account_id, chunk.number);
    }
    return wrong;
  }

  #say(accountId: bigint, finding: string): void {
    this.#violate(`Account ${accountId}, month ${monthName(this.#month!.month_ms)}: ${finding}.`);
  }
}

/** The first difference between what was stored and what the receipts give now. */
function differenceOf(stored: MonthTreeRow, now: MonthTreeRow): string | null {
  if (stored.form !== BigInt(FORM)) return `it was closed with form ${stored.form}, which this version does not know`;
  if (stored.calls !== now.calls) return `it was closed with ${counted(stored.calls, 'receipt')}, but has ${now.calls}`;
  if (Buffer.compare(stored.root, now.root) !== 0) {
    return `its receipts have changed since they were closed (root ${hex(stored.root)}, now ${hex(now.root)})`;
  }
  for (const sum of ['spent', 'held', 'loss'] as const) {
    if (stored[sum] !== now[sum]) return `${sum} is ${stored[sum]}, but its receipts add up to ${now[sum]}`;
  }
  return Buffer.compare(stored.peaks, now.peaks) === 0 ? null : 'its stored hash tree is damaged';
}

/** The receipts themselves are as they were, but without this hash none of the account's can be proved. */
function wrongChunk(number: bigint | undefined): string | null {
  if (number === undefined) return null;
  const first = Number(number) * CHUNK_LEAVES;
  return `the stored hash of its receipts ${first + 1} to ${first + CHUNK_LEAVES} is wrong, so its receipts cannot be signed`;
}

function hex(root: Uint8Array): string {
  return Buffer.from(root).toString('hex');
}
