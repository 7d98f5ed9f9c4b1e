import type { Rotation, RotationOutcome } from '../key-secrets.ts';
import type { AuditRow } from '../people.ts';
import { writeAudit } from './audit.ts';
import { type Program, query, rowOf } from './program.ts';
import { mayStillChangeStored } from './standing.ts';

interface RotatedRow {
  readonly revoked_ms: bigint | null;
  readonly version: bigint;
}

export function* rotateKey(
  id: bigint,
  { secret, oldExpiresMs, version }: Rotation,
  audit: AuditRow | undefined,
): Program<RotationOutcome> {
  if (audit !== undefined && !(yield* mayStillChangeStored(audit, id, {}))) return 'not_allowed';
  yield { lock: 'keys' };
  const key = yield* rowOf<RotatedRow>('SELECT revoked_ms, version FROM api_key WHERE id = ?', id);
  if (key === null) return 'no_key';
  if (key.revoked_ms !== null) return 'revoked';
  if (version !== undefined && key.version !== version) return 'version_conflict';
  yield query('DELETE FROM key_secret WHERE key_id = ?', id);
  yield query(
    'INSERT INTO key_secret (key_id, sha256, expires_ms) SELECT id, sha256, ? FROM api_key WHERE id = ?',
    oldExpiresMs,
    id,
  );
  yield query(
    `UPDATE api_key SET sha256 = ?, prefix = ?, last_four = ?,
       version = (SELECT coalesce(max(version), 0) + 1 FROM api_key) WHERE id = ?`,
    secret.sha256Hex,
    secret.prefix,
    secret.lastFour,
    id,
  );
  if (audit !== undefined) yield* writeAudit(audit);
  return 'rotated';
}
