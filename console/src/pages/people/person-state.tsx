import type { ReactNode } from 'react';
import type { Person } from '../../api/generated/routes.ts';
import { Chip } from '../../parts/chip.tsx';

export function PersonState({ person }: { readonly person: Person }): ReactNode {
  return (
    <span className="flex flex-wrap gap-1">
      <Chip tone={person.status === 'active' ? 'good' : 'warning'}>{person.status}</Chip>
      {person.operator ? <Chip>operator</Chip> : null}
      {person.address_confirmed ? null : <Chip tone="warning">address not confirmed</Chip>}
    </span>
  );
}

export function signsInWith({ password, single_sign_on }: Pick<Person, 'password' | 'single_sign_on'>): string {
  return [...(password ? ['password'] : []), ...(single_sign_on ? ['single sign-on'] : [])].join(', ') || '–';
}
