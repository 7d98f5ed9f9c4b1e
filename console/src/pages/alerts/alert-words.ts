import type { Alert } from '../../api/generated/routes.ts';

const KINDS: Readonly<Record<Alert['kind'], string>> = {
  balance: 'balance',
  key_cap: 'cap of a key',
  person_cap: 'cap of a person',
  host: 'host',
  losses: 'losses',
  disk: 'disk',
  verify: 'ledger',
};

export function kindLabel(kind: Alert['kind']): string {
  return KINDS[kind];
}

export const KIND_CHOICES = [
  { value: 'any', label: 'any' },
  ...Object.entries(KINDS).map(([value, label]) => ({ value, label })),
];
