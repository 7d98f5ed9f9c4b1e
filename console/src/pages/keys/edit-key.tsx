import { type ReactNode, useState } from 'react';
import type { ApiError } from '../../api/client.ts';
import type { ShownKey } from '../../api/generated/routes.ts';
import { useApi, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog, FormDialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { changesOf, draftOf, faultsOf } from './key-draft.ts';
import { KeyFields } from './key-fields.tsx';
import { UnknownModels } from './unknown-models.tsx';

const CHANGED_MEANWHILE = 412;

/** Changes a key as it was when the dialog opened. If somebody else has changed it since, nothing is overwritten. */
export function EditKeyDialog({ shownKey, onClose }: { readonly shownKey: ShownKey; onClose(): void }): ReactNode {
  const { tell } = useNotices();
  const [base, setBase] = useState(shownKey);
  const [draft, setDraft] = useState(() => draftOf(shownKey));
  const update = useChange('PATCH /keys/{key}', { refreshes: ['GET /keys', 'GET /keys/{key}'] });
  const faults = faultsOf(draft);
  const changes = changesOf(draftOf(base), draft);
  const isConflict = update.error?.status === CHANGED_MEANWHILE;
  const [unknown, setUnknown] = useState<readonly string[]>([]);
  const save = (): void =>
    update.mutate(
      { input: { key: base.id, ...changes }, version: base.version },
      {
        onSuccess: ({ name, unknown_models }) => {
          tell(`“${name}” was changed.`);
          if (changes.models == null || unknown_models.length === 0) onClose();
          else setUnknown(unknown_models);
        },
      },
    );
  if (unknown.length > 0)
    return (
      <Dialog title={`“${base.name}” was changed`} onClose={onClose}>
        <div className="flex flex-col gap-4">
          <UnknownModels names={unknown} />
          <Button className="self-end" onClick={onClose}>
            Close
          </Button>
        </div>
      </Dialog>
    );
  return (
    <FormDialog
      title={`Change “${base.name}”`}
      action="Save changes"
      busy={update.isPending}
      disabled={Object.keys(faults).length > 0 || Object.keys(changes).length === 0 || isConflict}
      error={isConflict ? null : update.error}
      onSubmit={save}
      onClose={onClose}
    >
      <KeyFields draft={draft} faults={faults} onChange={setDraft} />
      {isConflict ? (
        <Conflict
          keyId={base.id}
          onLoad={(current) => {
            setBase(current);
            setDraft(draftOf(current));
            update.reset();
          }}
        />
      ) : null}
    </FormDialog>
  );
}

/** Says that somebody else changed the key in the meantime, and loads its current state. */
function Conflict({ keyId, onLoad }: { readonly keyId: string; onLoad(key: ShownKey): void }): ReactNode {
  const current = useApi('GET /keys/{key}', { key: keyId }, { staleMs: 0 });
  const [failure, setFailure] = useState<ApiError | null>(null);
  const load = async (): Promise<void> => {
    // After a failure `data` is what was read before it.
    const { data, error } = await current.refetch();
    setFailure(error);
    if (error === null && data !== undefined) onLoad(data);
  };
  return (
    <>
      <div
        role="alert"
        className="flex items-center justify-between gap-3 rounded-control bg-warning-soft px-3 py-2 text-warning"
      >
        <span>Somebody else changed this key in the meantime. Your changes were not saved.</span>
        <Button onClick={() => void load()} disabled={current.isPending}>
          Load the current values
        </Button>
      </div>
      <FormError error={failure ?? current.error} />
    </>
  );
}
