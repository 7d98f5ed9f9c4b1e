import { type ReactNode, useState } from 'react';
import type { RotatedKey, ShownKey } from '../../api/generated/routes.ts';
import { useChange } from '../../api/queries.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { Ago, useNow } from '../../parts/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';

const GRACES = [
  { value: '0', label: 'Stop at once' },
  { value: '3600', label: 'Work for one hour' },
  { value: '86400', label: 'Work for one day' },
  { value: '604800', label: 'Work for one week' },
];

const CHANGED_MEANWHILE = 412;
const WARNING = 'rounded-control bg-warning-soft px-3 py-2 text-warning';

/** Gives a key a new secret. The old one keeps working for a while, so that programs can switch. */
export function RotateKeyDialog({ shownKey, onClose }: { readonly shownKey: ShownKey; onClose(): void }): ReactNode {
  const [grace, setGrace] = useState('86400');
  const [rotated, setRotated] = useState<RotatedKey | null>(null);
  const now = useNow();
  const rotate = useChange('POST /keys/{key}/rotate', {
    refreshes: ['GET /keys', 'GET /keys/{key}'],
    givesSecret: true,
  });
  const isConflict = rotate.error?.status === CHANGED_MEANWHILE;
  const { old_secret_expires_at: oldUntil } = shownKey;
  if (rotated !== null)
    return (
      <SecretDialog
        title="Key rotated"
        secret={rotated.secret}
        minted={rotated}
        note={grace === '0' ? 'The old secret does not work any more.' : 'The old secret works for a while.'}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      title={`Rotate “${shownKey.name}”`}
      action="Rotate key"
      busy={rotate.isPending}
      error={isConflict ? null : rotate.error}
      onSubmit={() =>
        rotate.mutate(
          { input: { key: shownKey.id, grace_seconds: Number(grace) }, version: shownKey.version },
          { onSuccess: setRotated },
        )
      }
      onClose={onClose}
    >
      <p className="text-muted">The key gets a new secret. Its name, caps and history stay.</p>
      <Field label="The old secret should">
        {(id) => <Select id={id} value={grace} choices={GRACES} onChange={setGrace} />}
      </Field>
      {isConflict ? (
        <p role="alert" className={WARNING}>
          Somebody else changed this key in the meantime, so it was not rotated. Rotate it again only if that is still
          needed.
        </p>
      ) : null}
      {oldUntil === null || oldUntil <= now ? null : (
        <p className={WARNING}>
          This key still has an older secret, which expires <Ago at={oldUntil} isAhead />. Rotating ends it at once,
          because a key has at most two secrets.
        </p>
      )}
    </FormDialog>
  );
}
