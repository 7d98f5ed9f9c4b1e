import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `custody: ${name}`, changes: [{ file, find, replace }], tests };
}

const SEALED = ['src/custody/rotate.test.ts'];
const CALLS = ['test/deployments.test.ts', 'test/deployment-errors.test.ts'];
const CUSTODY = 'src/custody/custody.ts';
const DEPLOYMENT_CALL = 'src/gateway/deployments/deployment-call.ts';
const STREAM = 'src/gateway/deployments/deployment-stream.ts';

/** Faults by which a provider's key would be disclosed, used for another account, or lost. */
export const CUSTODY_MUTANTS: readonly Mutant[] = [
  mutant('a seal that is not bound to its account', CUSTODY, 'String(row.accountId), ', '', ...SEALED),
  mutant('a seal that is not bound to its URL', CUSTODY, ', row.baseUrl];', '];', ...SEALED),
  mutant(
    'a seal whose data is not bound to its place',
    'src/custody/seal.ts',
    'createDecipheriv(CIPHER, createSecretKey(key), nonce, { authTagLength: TAG_BYTES })\n    .setAAD(bound)\n',
    'createDecipheriv(CIPHER, createSecretKey(key), nonce, { authTagLength: TAG_BYTES })\n    .setAAD(bound.subarray(0, 0))\n',
    'src/custody/seal.test.ts',
  ),
  mutant(
    'a key stored without being verified',
    CUSTODY,
    '    await verifyKey(egress, provider, resource.url, key);\n',
    '',
    'test/provider-keys.test.ts',
  ),
  mutant(
    'a provider key changed by a key without the permission',
    'src/accounts/permissions.ts',
    'if (key === null || key.permissions.includes(permission)) return null;',
    'if (key === null || key.permissions !== undefined) return null;',
    'test/authorisation.test.ts',
  ),
  mutant(
    'a provider key stored with a permission that ended while the body arrived',
    'src/http/check-key-again.ts',
    'if (permission === undefined) return;',
    'if (permission !== null) return;',
    'test/late-bodies.test.ts',
  ),
  mutant(
    'a provider key deleted by any key',
    'src/http/key-routes.ts',
    "route('DELETE', '/keys/*', deleteKey, { permission })",
    "route('DELETE', '/keys/*', deleteKey)",
    'test/authorisation.test.ts',
  ),
  mutant(
    'a permission that is not taken away',
    'src/store/sqlite/keys.ts',
    '(permissions | ?) & ~ ?',
    '(permissions | ?) | (0 & ?)',
    'test/store.test.ts',
  ),
  mutant(
    'a refused key shown as verified',
    CUSTODY,
    "rejectedMs === null ? 'verified' : 'rejected'",
    "'verified'",
    'test/provider-keys.test.ts',
  ),
  mutant(
    'a write for every call with a stored key',
    'src/custody/key-use.ts',
    'nowMs - state.usedMs < LIMITS.providerKeyUseMs',
    'nowMs < state.usedMs',
    'src/custody/key-use.test.ts',
  ),
  mutant(
    'an internal name told from one that does not exist',
    'src/egress/guarded-egress.ts',
    "? notPublic('address')",
    "? new ForbiddenUrl('address', 'private')",
    'test/custody-hosted.test.ts',
  ),
  mutant(
    'a row that cannot be opened taken for none',
    CUSTODY,
    'if (opened === null) throw unreadable(provider);',
    'if (opened === null) return null;',
    'test/seal-rotation.test.ts',
  ),
  mutant(
    'a row that changed meanwhile counted as done',
    'src/custody/rotate.ts',
    'else counts.changedMeanwhile++;',
    'else counts.rewrapped++;',
    ...SEALED,
  ),
  mutant(
    'a master key that the group may read',
    'src/custody/master-keys.ts',
    'refuseOpenFile(path, 0o077',
    'refuseOpenFile(path, 0o007',
    'src/custody/master-keys.test.ts',
  ),
  mutant(
    'an error that quotes the key, passed on',
    DEPLOYMENT_CALL,
    '{ body: hideKey(own) }',
    '{ body: own }',
    'test/deployment-errors.test.ts',
  ),
  mutant(
    'a provider’s 403 passed on as its own',
    DEPLOYMENT_CALL,
    'status === 401 || status === 403',
    'status === 401',
    'test/deployment-errors.test.ts',
  ),
  mutant(
    'the last frame before the settlement',
    STREAM,
    'if (!reader.terminal) return frame.raw;',
    'if (!reader.terminal || reader.error === null) return frame.raw;',
    'src/gateway/deployments/deployment-stream.test.ts',
  ),
  mutant('an error in a stream replaced by ours', STREAM, 'if (this.#saidError) return this.closing();', '', ...CALLS),
  mutant(
    'a restricted key that may call any deployment',
    'src/gateway/deployments/deployment.ts',
    'return models === null ||',
    'return true ||',
    'test/deployments.test.ts',
  ),
  mutant(
    'a provider that is read to the end for a caller who has left',
    DEPLOYMENT_CALL,
    "onClientGone: 'cancel'",
    "onClientGone: 'drain'",
    'test/deployments.test.ts',
  ),
];
