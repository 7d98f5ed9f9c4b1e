import { expect, test } from 'vitest';
import type { ModelRow } from '../catalog/schema.ts';
import { LIMITS } from '../limits.ts';
import type { ConfiguredHost } from './host.ts';
import { HOST_ROWS } from './rows.ts';
import { addServedModels } from './served-models.ts';

const KNOWN: ModelRow = { id: 'known', context_window: 10, hosts: [{ host: 'first', model: 'known' }] };

function host(name: string, models: ConfiguredHost['models']): ConfiguredHost {
  return { row: { ...HOST_ROWS[0]!, name }, key: null, keySource: null, local: false, models };
}

function served(id: string, model = id, contextWindow: number | null = null) {
  return { id, model, contextWindow, maxOutputTokens: null };
}

test('a host that lists a known model becomes one more place for it, with its own name', () => {
  const [row] = addServedModels([KNOWN], [host('second', [served('known', 'theirs')])]);
  expect(row).toEqual({ ...KNOWN, hosts: [...KNOWN.hosts, { host: 'second', model: 'theirs' }] });
});

test('a host that is already there gets the name the operator gave', () => {
  const [row] = addServedModels([KNOWN], [host('first', [served('known', 'theirs')])]);
  expect(row?.hosts).toEqual([{ host: 'first', model: 'theirs' }]);
});

test('an unknown model is added once, without a price, for every host that lists it', () => {
  const rows = addServedModels([KNOWN], [host('a', [served('new', 'n', 77)]), host('b', [served('new')])]);
  expect(rows[1]).toMatchObject({ id: 'new', context_window: 77 });
  expect(rows[1]?.hosts).toEqual([
    { host: 'a', model: 'n' },
    { host: 'b', model: 'new' },
  ]);
  expect(rows[1]?.price).toBeUndefined();
  const [, guessed] = addServedModels([KNOWN], [host('a', [served('new')])]);
  expect(guessed?.context_window).toBe(LIMITS.unknownContextWindowTokens);
});
