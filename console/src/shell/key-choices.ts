import type { ShownKey } from '../api/generated/routes.ts';

interface KeyChoice {
  readonly value: string;
  readonly label: string;
}

/** Keys to choose from, by name. Those that share a name are told apart by the end of their secret. */
export function keyChoices(keys: readonly Pick<ShownKey, 'id' | 'name' | 'hint'>[]): KeyChoice[] {
  const byName = Map.groupBy(keys, ({ name }) => name);
  return keys.map(({ id, name, hint }) => ({
    value: id,
    label: byName.get(name)!.length === 1 ? name : `${name} (${hint})`,
  }));
}
