import { PartialTree, type PathStep, rootOfPath } from '../../kit/hash-path.ts';
import type { HashText } from '../../kit/hash-tree.ts';
import { LIMITS } from '../../limits.ts';
import { CALL_STATE } from '../codes.ts';
import { CHUNK_LEAVES, CHUNK_LEVEL, type ClosedMonth, MONTH_PART, type MonthTreeRow } from '../month-tree.ts';
import { FORM_SELECT, type FormRow, formRowOf } from '../receipt-form.ts';
import type { LeafProof } from '../signing.ts';
import { FormTexts } from './form-texts.ts';
import { type Program, rowOf, rowsOf } from './program.ts';
import { type CallsOfAccount, callsByIndex } from './usage-report.ts';

interface Chunk {
  readonly number: bigint;
  readonly up_to: bigint;
  readonly hash: Uint8Array;
}

/** Receipts with `after < id <= upTo`; the first of them has this place in its tree. */
interface Span {
  readonly after: bigint;
  readonly upTo: bigint;
  readonly first: number;
}

/**
 * Proves one closed receipt: hashes its row, and leads it to the root that its account's month was closed with. It reads the receipts of
 * its own chunk and those behind the last chunk; the hashes of the other chunks are stored.
 */
export class ReceiptProver {
  readonly #texts = new FormTexts();
  readonly #callsOf: CallsOfAccount;

  constructor(callsOf: CallsOfAccount = callsByIndex) {
    this.#callsOf = callsOf;
  }

  /** Null if the receipt is not closed yet. */
  *prove(id: bigint, accountId: bigint): Program<LeafProof | null> {
    const month = yield* rowOf<ClosedMonth>('SELECT * FROM closed_month WHERE up_to >= ? ORDER BY up_to LIMIT 1', id);
    if (month === null) return null;
    const before = yield* rowOf<ClosedMonth>(
      'SELECT * FROM closed_month WHERE up_to < ? ORDER BY up_to DESC LIMIT 1',
      id,
    );
    const tree = yield* treeOf(month.month_ms, accountId, MONTH_PART.closed);
    const deleted = yield* treeOf(month.month_ms, accountId, MONTH_PART.deleted);
    const chunks = yield* rowsOf<Chunk>(
      'SELECT number, up_to, hash FROM tree_chunk WHERE month_ms = ? AND account_id = ? ORDER BY number',
      month.month_ms,
      accountId,
    );
    const size = Number(tree?.calls ?? 0n);
    const gone = Number(deleted?.calls ?? 0n);
    const spans = spansFor(id, { after: before?.up_to ?? 0n, upTo: month.up_to, size, gone }, chunks);
    const facts = { monthMs: Number(month.month_ms), receipts: size, spentNanousd: tree?.spent ?? 0n };
    const unproved = { ...facts, leaf: '', path: [], root: textOf(tree?.root ?? new Uint8Array(0)) };
    if (spans === null) return { ...unproved, state: 'too_many' };
    const partial = new PartialTree();
    if (deleted !== null) partial.putPeaks(gone, deleted.peaks);
    for (const { number, hash } of chunks) partial.put(CHUNK_LEVEL, Number(number), textOf(hash));
    let found: { readonly leaf: HashText; readonly index: number } | null = null;
    for (const span of spans) {
      for (const [at, row] of (yield* this.#rows(accountId, span)).entries()) {
        const leaf = this.#texts.form.hashOf(row);
        partial.put(0, span.first + at, leaf);
        if (row[0] === id) found = { leaf, index: span.first + at };
      }
    }
    if (found === null) return { ...unproved, state: 'gone' };
    const path = pathIn(partial, found.index, size);
    const isProved = path !== null && rootOfPath(found.leaf, path) === unproved.root;
    return { ...unproved, leaf: found.leaf, path: path ?? [], state: isProved ? 'proved' : 'changed' };
  }

  *#rows(accountId: bigint, { after, upTo }: Span): Program<FormRow[]> {
    const { text, values } = this.#callsOf(accountId, after + 1n, upTo + 1n);
    const found = yield* rowsOf<Record<string, unknown>>(
      `${FORM_SELECT} WHERE ${text} AND state <> ${CALL_STATE.of.open} ORDER BY id LIMIT ?`,
      ...values,
      LIMITS.proofReceiptsMax + 1,
    );
    const rows = found.map(formRowOf);
    yield* this.#texts.learn(rows);
    return rows;
  }
}

interface TreeSpan {
  readonly after: bigint;
  readonly upTo: bigint;
  readonly size: number;
  /** Receipts at its beginning that were deleted. */
  readonly gone: number;
}

/** What has to be read; null if an earlier version closed so many of the receipts, without chunks, that it would take too long. */
function spansFor(id: bigint, tree: TreeSpan, chunks: readonly Chunk[]): Span[] | null {
  const { after, upTo, size, gone } = tree;
  const whole = Math.floor(size / CHUNK_LEAVES);
  if (chunks.length !== whole) return size - gone > LIMITS.proofReceiptsMax ? null : [{ after, upTo, first: gone }];
  const tail = { after: chunks.at(-1)?.up_to ?? after, upTo, first: Math.max(whole * CHUNK_LEAVES, gone) };
  const own = chunks.findIndex((chunk) => chunk.up_to >= id);
  if (own === -1) return [tail];
  const first = Math.max(own * CHUNK_LEAVES, gone);
  return [{ after: chunks[own - 1]?.up_to ?? after, upTo: chunks[own]!.up_to, first }, tail];
}

/** Null if receipts were added or deleted behind the ledger, so that the place is not in the tree or a hash is missing. */
function pathIn(partial: PartialTree, index: number, size: number): PathStep[] | null {
  if (index >= size) return null;
  try {
    return partial.path(index, size);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function* treeOf(monthMs: bigint, accountId: bigint, part: bigint): Program<MonthTreeRow | null> {
  return yield* rowOf<MonthTreeRow>(
    'SELECT * FROM month_tree WHERE month_ms = ? AND account_id = ? AND part = ?',
    monthMs,
    accountId,
    part,
  );
}

function textOf(hash: Uint8Array): HashText {
  return Buffer.from(hash).toString('latin1');
}
