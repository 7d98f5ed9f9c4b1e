import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `keys: ${name}`, changes: [{ file, find, replace }], tests };
}

const VERBS = 'src/operator/keys.test.ts';
const DIRECTORY = 'src/accounts/key-directory.test.ts';
const REFUNDS = 'test/refunds.test.ts';
const CEILING = 'test/key-ceiling.test.ts';

/** Faults of rotation, of a key's limit per call, and of refunds. */
export const KEY_MUTANTS: readonly Mutant[] = [
  mutant('an old secret that never ends', 'src/store/key-secrets.ts', ' && key.replaced.expiresMs > nowMs', '', VERBS),
  mutant(
    'an old secret that ends at once',
    'src/store/programs/key-rotation.ts',
    'SELECT id, sha256, ? FROM api_key',
    'SELECT id, sha256, 0 * ? FROM api_key',
    VERBS,
  ),
  mutant(
    'a rotation that caches do not hear of',
    'src/store/programs/key-rotation.ts',
    '(SELECT coalesce(max(version), 0) + 1 FROM api_key)',
    'version',
    VERBS,
  ),
  mutant(
    'a secret that counts although its key has others now',
    'src/accounts/key-directory.ts',
    ' || !isSecretOf(row, hash, nowMs)',
    '',
    DIRECTORY,
  ),
  mutant(
    'an older version of a key that overwrites a newer one',
    'src/store/sqlite/keys.ts',
    "    return 'version_conflict';\n",
    '    void 0;\n',
    VERBS,
  ),
  mutant(
    "a key's limit per call that the request can raise",
    'src/gateway/understand.ts',
    '  return one < other ? one : other;',
    '  return one;',
    CEILING,
  ),
  mutant(
    "a refusal by the key's limit that blames the request",
    'src/gateway/hold-refusal.ts',
    'if (keyCeilingNanousd === availableNanousd) {',
    'if (keyCeilingNanousd === -1n) {',
    CEILING,
  ),
  mutant(
    'refunds beyond the cost on SQLite',
    'src/store/sqlite/operations.ts',
    'return refunded + amount > call.cost ?',
    'return amount > call.cost ?',
    REFUNDS,
  ),
  mutant(
    'refunds beyond the cost on PostgreSQL',
    'src/store/postgres/batch-rows.ts',
    'for (const [callId, refunded] of rows) this.refunds.set(callId, refunded);',
    'for (const [callId] of rows) this.refunds.set(callId, 0n);',
    REFUNDS,
  ),
  mutant(
    'refunds that nobody compares with the cost',
    'src/store/refund-check.ts',
    'ELSE refunded > call.cost OR',
    'ELSE',
    REFUNDS,
  ),
  mutant(
    'a repeated refund with another amount than the first time',
    'src/operator/refund.ts',
    '  if (earlier?.callId === receipt.id) return earlier.amountNanousd;\n',
    '',
    REFUNDS,
  ),
  mutant(
    'a credit without its row of the audit',
    'src/store/sqlite/operations.ts',
    "    if (outcome.kind === 'credited') runProgram(",
    "    if (outcome.kind === 'voided') runProgram(",
    REFUNDS,
  ),
];
