import { type PathStep, rootOfPath } from '../kit/hash-path.ts';
import { leafHash } from '../kit/hash-tree.ts';
import { type Jws, NotVerified, openJws, type PublicJwk } from './jws.ts';

/** What leads from a receipt to the signed root of its month. Numbers are strings, and hashes are hexadecimal. */
export interface ReceiptProof {
  readonly month: string;
  /** How many receipts the account has in the month, and what they cost. */
  readonly receipts: string;
  readonly spent_nanousd: string;
  readonly salt: string;
  /** From the receipt to the root of its account. */
  readonly receipt_path: readonly HexStep[];
  /** From the account to the root of the month. */
  readonly account_path: readonly HexStep[];
  readonly root: Jws;
}

type HexStep = { readonly left: string } | { readonly right: string };

/** The content of a signed root. */
export interface RootContent {
  readonly number: string;
  readonly month: string;
  readonly final: boolean;
  readonly root: string;
  /** The SHA-256 hash of the payload of the previous root. */
  readonly previous: string | null;
}

export interface VerifiedRoot {
  readonly books: string;
  readonly generation: string;
  readonly content: RootContent;
}

export function hexSteps(path: readonly PathStep[]): HexStep[] {
  const hex = (hash: string): string => Buffer.from(hash, 'latin1').toString('hex');
  return path.map((step) => ('left' in step ? { left: hex(step.left) } : { right: hex(step.right) }));
}

/** What is hashed as the leaf of an account. */
export function accountLeafText(lines: {
  readonly books: string;
  readonly month: string;
  readonly account: string;
  readonly receipts: string;
  readonly spent_nanousd: string;
  readonly root: string;
  readonly salt: string;
}): string {
  const { books, month, account, receipts, spent_nanousd, root, salt } = lines;
  const values = { books, month, account, receipts, spent_nanousd, root, salt };
  return `tollgate-account 1\n${Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}`;
}

/** Without line feeds: a value that contains the lines after it would let one account's leaf be read in two ways. */
const ONE_WORD = /^[\w-]+$/;

const PROOF_MEMBERS = ['account_path', 'month', 'receipt_path', 'receipts', 'root', 'salt', 'spent_nanousd'];

/** Checks that the receipt is in the signed root. Throws `NotVerified`. */
export function verifyProof(
  receipt: { readonly books: string; readonly generation: string; readonly account: unknown; readonly leaf: unknown },
  proof: unknown,
  keys: readonly PublicJwk[],
): VerifiedRoot {
  const given = readProof(proof);
  if (typeof receipt.leaf !== 'string')
    throw new NotVerified('The receipt was signed before it was closed, without a leaf.');
  const root = openRoot(given.root, keys);
  if (root.books !== receipt.books || root.generation !== receipt.generation)
    throw new NotVerified('The root belongs to another ledger, or to another generation of it.');
  if (root.content.month !== given.month) throw new NotVerified('The root belongs to another month.');
  const accountRoot = rootOfPath(fromHex(receipt.leaf), readPath(given.receipt_path));
  const account = accountLeafText({
    ...given,
    books: receipt.books,
    account: String(receipt.account),
    root: Buffer.from(accountRoot, 'latin1').toString('hex'),
  });
  const monthRoot = rootOfPath(leafHash(account), readPath(given.account_path));
  if (Buffer.from(monthRoot, 'latin1').toString('hex') !== root.content.root)
    throw new NotVerified('The proof does not lead to the root: the receipt is not what it was when it was closed.');
  return root;
}

/** Checks a signed root of a month. Throws `NotVerified`. */
export function openRoot(value: unknown, keys: readonly PublicJwk[]): VerifiedRoot {
  const { payload } = openJws(value, 'tollgate-month-root', keys);
  const { books, generation, root } = payload;
  if (typeof root !== 'object' || root === null) throw new NotVerified('The payload has no root.');
  return { books: String(books), generation: String(generation), content: root as RootContent };
}

function readProof(proof: unknown): ReceiptProof {
  const members = typeof proof === 'object' && proof !== null ? Object.keys(proof).sort() : [];
  const given = proof as ReceiptProof;
  const texts = [given?.month, given?.receipts, given?.spent_nanousd, given?.salt];
  if (members.join() !== PROOF_MEMBERS.join() || texts.some((text) => typeof text !== 'string'))
    throw new NotVerified(`The proof must have the members ${PROOF_MEMBERS.join(', ')}.`);
  if (!texts.every((text) => ONE_WORD.test(text)))
    throw new NotVerified(
      'The month, the receipts, the sum and the salt of a proof have only letters, digits and "-".',
    );
  return given;
}

function readPath(path: unknown): PathStep[] {
  if (!Array.isArray(path)) throw new NotVerified('The proof has no path.');
  return path.map((step: unknown) => {
    const [entry, ...others] = typeof step === 'object' && step !== null ? Object.entries(step) : [];
    const [side, hash] = entry ?? [];
    if (others.length > 0 || (side !== 'left' && side !== 'right'))
      throw new NotVerified('A step of the proof is wrong.');
    return side === 'left' ? { left: fromHex(hash) } : { right: fromHex(hash) };
  });
}

/** In lower case only, so that no other spelling of the same hash passes. */
function fromHex(value: unknown): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value))
    throw new NotVerified('A hash of the proof is wrong.');
  return Buffer.from(value, 'hex').toString('latin1');
}
