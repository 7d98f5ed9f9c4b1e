import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `signing: ${name}`, changes: [{ file, find, replace }], tests };
}

const SIGNED = 'test/signed-receipts.test.ts';
const ROUTES = 'test/signed-receipts-http.test.ts';
const PROOFS = 'test/receipt-proofs.test.ts';
const VERIFY = 'src/signing/verify.test.ts';
const PATHS = 'src/kit/hash-path.test.ts';
const JWS = 'src/signing/jws.ts';
const KEYS = 'src/signing/receipt-keys.ts';
const SIGNER = 'src/signing/receipt-signer.ts';
const ROOTS = 'src/signing/month-roots.ts';
const PROVER = 'src/store/programs/receipt-proof.ts';

/** Faults by which something false would be signed or verified, or something true refused. */
export const SIGNING_MUTANTS: readonly Mutant[] = [
  mutant(
    'several spellings of the same bytes',
    'src/kit/base64url.ts',
    "bytes.toString('base64url') === text ? bytes : null",
    'bytes',
    VERIFY,
  ),
  mutant(
    'spellings that only the client accepts',
    'packages/client/src/verify.ts',
    '[\\w-][AQgw]|[\\w-]{2}[AEIMQUYcgkosw048]',
    '[\\w-]{2,3}',
    VERIFY,
  ),
  mutant('one kind of document taken for another', JWS, 'if (header.typ !== type)', 'if (false)', VERIFY),
  mutant(
    'a key that had ceased to sign',
    JWS,
    'signedAt >= nbf && signedAt <= (exp ?? Number.MAX_SAFE_INTEGER)',
    'signedAt >= nbf',
    SIGNED,
  ),
  mutant('a key under the id of another', JWS, 'if (thumbprint(x) !== kid) throw', 'if (false) throw', SIGNED),
  mutant('a key that signs before its time', KEYS, 'fromMs <= nowMs);', 'true);', SIGNED),
  mutant('a signature older than its key', KEYS, 'fromMs <= nowMs);', 'fromMs <= nowMs) ?? keys[0]!;', VERIFY),
  mutant('a leaf that can be read in two ways', 'src/signing/verify-proof.ts', 'ONE_WORD.test(text)', 'true', VERIFY),
  mutant(
    'a stored hash that is not compared',
    'src/store/month-check.ts',
    ' ?? wrongChunk(wrongChunks.get(row.account_id))',
    '',
    'test/month-trees.test.ts',
  ),
  mutant(
    'a private key that fits any row',
    KEYS,
    "return ['receipt key', String(id), Buffer.from(publicKey).toString('hex')];",
    "return ['receipt key'];",
    SIGNED,
  ),
  mutant('a running call that is signed', SIGNER, "if (receipt.state === 'open') throw notSettled();", '', SIGNED),
  mutant(
    'a changed receipt that is signed',
    SIGNER,
    "if (proof.state === 'proved') return proof;",
    'return proof;',
    PROOFS,
  ),
  mutant(
    'a changed receipt that nobody is told of',
    SIGNER,
    'this.#terms.onMismatch?.({',
    '(() => {})?.call({',
    PROOFS,
  ),
  mutant(
    'refunds that show the operator’s note',
    'src/signing/statements.ts',
    'reference: refund.reference,',
    'reference: refund.reference + refund.note,',
    ROUTES,
  ),
  mutant(
    'hashes in upper case',
    'src/signing/verify-proof.ts',
    '/^[0-9a-f]{64}$/.test(value)',
    '/^[0-9a-f]{64}$/i.test(value)',
    PROOFS,
  ),
  mutant(
    'a root of another generation',
    'src/signing/verify-proof.ts',
    'root.books !== receipt.books || root.generation !== receipt.generation',
    'root.books !== receipt.books',
    VERIFY,
  ),
  mutant(
    'accounts without a salt',
    ROOTS,
    "createHmac('sha256', salt).update(String(account.accountId))",
    "createHmac('sha256', '').update('')",
    PROOFS,
  ),
  mutant(
    'roots that are not chained',
    ROOTS,
    'previous: previous === null ? null : payloadHash(previous.statement),',
    'previous: null,',
    PROOFS,
  ),
  mutant(
    'the same root in a new generation',
    ROOTS,
    'last.generation === generation && last.isFinal',
    'last.isFinal',
    PROOFS,
  ),
  mutant(
    'months without a final root',
    ROOTS,
    'const isFinal = monthMs !== months.at(-1)!.monthMs;',
    'const isFinal = false;',
    PROOFS,
  ),
  mutant(
    'receipts that were deleted are forgotten',
    PROVER,
    'if (deleted !== null) partial.putPeaks(gone, deleted.peaks);',
    '',
    PROOFS,
  ),
  mutant(
    'chunks at the wrong place',
    PROVER,
    'const first = Math.max(own * CHUNK_LEAVES, gone);',
    'const first = gone;',
    PROOFS,
  ),
  mutant(
    'left for right',
    'src/kit/hash-path.ts',
    "'left' in step ? nodeHash(step.left, hash)",
    "'left' in step ? nodeHash(hash, step.left)",
    PATHS,
  ),
  mutant(
    'chunks of the wrong size',
    'src/kit/hash-tree.ts',
    'if (++height === level) completed = last;',
    'if (height++ === level) completed = last;',
    PATHS,
  ),
];
