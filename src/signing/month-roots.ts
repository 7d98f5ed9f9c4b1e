import { createHash, createHmac, randomBytes } from 'node:crypto';
import { ACCOUNT_PREFIX, BOOKS_PREFIX } from '../canonical/id-prefixes.ts';
import { tryParseJson } from '../json/json.ts';
import type { Clock } from '../kit/clock.ts';
import { PartialTree, type PathStep } from '../kit/hash-path.ts';
import { type HashText, leafHash } from '../kit/hash-tree.ts';
import { formatId } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import { monthName } from '../store/month-tree.ts';
import type { AccountMonth, BooksMark, MonthRoot, SignedMonth } from '../store/signing.ts';
import { type Jws, signJws } from './jws.ts';
import type { ReceiptKeys } from './receipt-keys.ts';
import { rootStatement } from './statements.ts';
import { accountLeafText } from './verify-proof.ts';

interface RootTerms {
  readonly rows: Pick<
    Directory,
    'booksMark' | 'closedMonths' | 'monthAccounts' | 'monthSalt' | 'lastMonthRoot' | 'addMonthRoot'
  >;
  readonly keys: ReceiptKeys;
  readonly clock: Clock;
}

/** The signed root of a month, and how an account is found in it. */
export interface CurrentRoot {
  readonly statement: Jws;
  /** Null if the account has no receipts in the month. */
  account(accountId: bigint): AccountInRoot | null;
}

export interface AccountInRoot {
  readonly root: HashText;
  readonly salt: string;
  readonly path: readonly PathStep[];
}

/** Months whose trees are kept in memory. */
export const TREES_MAX = 4;

/**
 * Signs the roots of closed months. The tree of a month has a leaf for each account, with a salt that only its owner learns: the hashes of
 * others on a path say nothing about them. Leaves are in the order of their hashes, so that the place says nothing either.
 */
export class MonthRoots {
  readonly #terms: RootTerms;
  readonly #trees = new Map<number, MonthTop>();

  constructor(terms: RootTerms) {
    this.#terms = terms;
  }

  /** Months whose tree is remembered. */
  get trees(): number {
    return this.#trees.size;
  }

  /** Signs months that have ended, and the one that grows about once an hour. Returns how many roots were signed. */
  async signClosed(): Promise<number> {
    const { rows, clock } = this.#terms;
    const { generation } = await rows.booksMark();
    const months = await rows.closedMonths();
    let signed = 0;
    for (const { monthMs } of months) {
      const last = await rows.lastMonthRoot(monthMs);
      const isGrowing = monthMs === months.at(-1)!.monthMs;
      const isOld = last === null || clock.nowMs() - last.createdMs >= LIMITS.monthRootPeriodMs;
      const isDue = last?.generation !== generation || (isGrowing ? isOld : !last.isFinal);
      if (isDue && (await this.#current(monthMs))?.isNew === true) signed++;
    }
    return signed;
  }

  /** The root of the month as it is now; it is signed if it is not yet. Null if the month has no closed receipts. */
  async current(monthMs: number): Promise<CurrentRoot | null> {
    return (await this.#current(monthMs))?.root ?? null;
  }

  /** Of several processes that sign at once, one succeeds, and the others find what it signed. */
  async #current(monthMs: number): Promise<{ root: CurrentRoot; isNew: boolean } | null> {
    const { rows } = this.#terms;
    for (let attempt = 0; attempt < LIMITS.monthRootAttemptsMax; attempt++) {
      const mark = await rows.booksMark();
      const months = await rows.closedMonths();
      const month = months.find((one) => one.monthMs === monthMs);
      if (month === undefined) return null;
      const top = await this.#topOf(month, mark);
      // Read first: whatever is signed from now on takes the number after it.
      const previous = await rows.lastMonthRoot(null);
      const isFinal = monthMs !== months.at(-1)!.monthMs;
      const last = await rows.lastMonthRoot(monthMs);
      if (last !== null && isSame(last, mark, top, isFinal)) return { root: rootOf(last, top), isNew: false };
      // A root must not cover less than the previous one, so the month must not have grown since.
      const isStill = (await rows.closedMonths()).some((one) => one.monthMs === monthMs && one.upTo === month.upTo);
      if (!isStill) continue;
      const signed = await this.#sign(monthMs, mark, top, isFinal, previous);
      if (await rows.addMonthRoot(signed)) return { root: rootOf(signed, top), isNew: true };
    }
    throw new Error(`Other processes signed the root of ${monthName(monthMs)} first, each time.`);
  }

  async #sign(
    monthMs: number,
    mark: BooksMark,
    top: MonthTop,
    isFinal: boolean,
    previous: MonthRoot | null,
  ): Promise<MonthRoot> {
    const { keys, clock } = this.#terms;
    const nowMs = clock.nowMs();
    const number = (previous?.number ?? 0) + 1;
    const root = Buffer.from(top.root, 'latin1');
    const statement = rootStatement(
      { ...mark, nowMs },
      {
        number: String(number),
        month: monthName(monthMs),
        final: isFinal,
        root: root.toString('hex'),
        previous: previous === null ? null : payloadHash(previous.statement),
      },
    );
    const jws = signJws('tollgate-month-root', statement, await keys.signing(nowMs));
    const { generation } = mark;
    return { number, generation, monthMs, isFinal, root, statement: JSON.stringify(jws), createdMs: nowMs };
  }

  /** Trees grow only when calls are closed, which raises the last id of their month. */
  async #topOf({ monthMs, upTo }: SignedMonth, { booksId }: BooksMark): Promise<MonthTop> {
    const kept = this.#trees.get(monthMs);
    if (kept?.upTo === upTo) return kept;
    const salt = await this.#terms.rows.monthSalt(monthMs, randomBytes(32));
    const accounts = await this.#terms.rows.monthAccounts(monthMs);
    const top = new MonthTop(upTo, accounts, (account) => {
      const own = createHmac('sha256', salt).update(String(account.accountId)).digest('hex');
      const leaf = leafHash(
        accountLeafText({
          books: formatId(BOOKS_PREFIX, booksId),
          month: monthName(monthMs),
          account: formatId(ACCOUNT_PREFIX, account.accountId),
          receipts: String(account.receipts),
          spent_nanousd: String(account.spentNanousd),
          root: Buffer.from(account.root).toString('hex'),
          salt: own,
        }),
      );
      return { salt: own, leaf };
    });
    if (this.#trees.size >= TREES_MAX) this.#trees.clear();
    this.#trees.set(monthMs, top);
    return top;
  }
}

/** The hash tree over the accounts of a month. */
class MonthTop {
  readonly upTo: bigint;
  readonly root: HashText;
  readonly #tree = new PartialTree();
  readonly #places = new Map<bigint, { readonly index: number; readonly root: HashText; readonly salt: string }>();

  constructor(
    upTo: bigint,
    accounts: readonly AccountMonth[],
    saltedLeaf: (account: AccountMonth) => { readonly salt: string; readonly leaf: HashText },
  ) {
    this.upTo = upTo;
    const leaves = accounts.map((account) => ({ account, ...saltedLeaf(account) }));
    leaves.sort((one, other) => (one.leaf < other.leaf ? -1 : 1));
    for (const [index, { account, salt, leaf }] of leaves.entries()) {
      this.#tree.put(0, index, leaf);
      const root = Buffer.from(account.root).toString('latin1');
      this.#places.set(account.accountId, { index, root, salt });
    }
    this.root = this.#tree.root(leaves.length);
  }

  find(accountId: bigint): AccountInRoot | null {
    const place = this.#places.get(accountId);
    if (place === undefined) return null;
    const { index, root, salt } = place;
    return { root, salt, path: this.#tree.path(index, this.#places.size) };
  }
}

function isSame(last: MonthRoot, { generation }: BooksMark, top: MonthTop, isFinal: boolean): boolean {
  const isEqual = Buffer.from(last.root).toString('latin1') === top.root;
  return isEqual && last.generation === generation && last.isFinal === isFinal;
}

function rootOf({ statement }: MonthRoot, top: MonthTop): CurrentRoot {
  return { statement: parseJws(statement), account: (id) => top.find(id) };
}

/** The hash by which the next root refers to this one. */
function payloadHash(statement: string): string {
  return createHash('sha256')
    .update(Buffer.from(parseJws(statement).payload, 'base64url'))
    .digest('hex');
}

function parseJws(statement: string): Jws {
  return tryParseJson(statement) as Jws;
}
