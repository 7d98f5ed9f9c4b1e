import type { ReactNode } from 'react';
import type { Member } from '../../api/generated/routes.ts';
import { CapFields } from '../../parts/cap-fields.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { CAP_FAULT, isCapText, parseDollars, writeDollars } from '../../parts/money-format.ts';

interface RoleDraft {
  readonly role: Member['role'];
  /** In dollars; empty for no cap. */
  readonly cap: string;
  readonly window: Member['window'];
}

export const NEW_ROLE: RoleDraft = { role: 'member', cap: '', window: 'month' };

export function roleDraftOf({ role, spend_cap_nanousd, window }: Member): RoleDraft {
  return { role, cap: spend_cap_nanousd === null ? '' : writeDollars(spend_cap_nanousd), window };
}

export function isCapWrong({ cap }: RoleDraft): boolean {
  return !isCapText(cap);
}

/** A window without a cap would be refused. */
export function roleTerms({ role, cap, window }: RoleDraft) {
  if (cap.trim() === '') return { role, spend_cap_nanousd: null, window: undefined };
  return { role, spend_cap_nanousd: parseDollars(cap), window };
}

/**
 * Only what differs, because what is sent undoes what somebody else has changed meanwhile. A cap and its window are one term:
 * $50 a month is not $50 a day.
 */
export function roleChanges(before: RoleDraft, after: RoleDraft): Partial<ReturnType<typeof roleTerms>> {
  const { role: roleBefore, ...capBefore } = roleTerms(before);
  const { role, ...cap } = roleTerms(after);
  const isSameCap = cap.spend_cap_nanousd === capBefore.spend_cap_nanousd && cap.window === capBefore.window;
  return { ...(role === roleBefore ? {} : { role }), ...(isSameCap ? {} : cap) };
}

const ROLES = [
  { value: 'member', label: 'Member: makes calls with own keys' },
  { value: 'viewer', label: 'Viewer: reads, has no keys' },
  { value: 'owner', label: 'Owner: manages keys and people' },
] as const;

/** The role of a person in an account, and what all their keys together may spend there. */
export function RoleFields({
  draft,
  roleHint,
  onChange,
}: {
  readonly draft: RoleDraft;
  readonly roleHint?: string | undefined;
  onChange(draft: RoleDraft): void;
}): ReactNode {
  return (
    <>
      <Field label="Role" hint={roleHint}>
        {(id) => (
          <Select id={id} value={draft.role} choices={ROLES} onChange={(role) => onChange({ ...draft, role })} />
        )}
      </Field>
      <CapFields
        label="Cap of the person"
        hint="In dollars, for all their keys together. Empty: none."
        error={isCapWrong(draft) ? CAP_FAULT : null}
        draft={draft}
        onChange={(changed) => onChange({ ...draft, ...changed })}
      />
    </>
  );
}
