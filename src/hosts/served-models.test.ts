import { describe, expect, test } from 'vitest';
import type { HostWire } from '../canonical/wire-names.ts';
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

test('a host that lists a known model is added to it, with the host’s own name for the model', () => {
  const [row] = addServedModels([KNOWN], [host('second', [served('known', 'theirs')])]);
  expect(row).toEqual({ ...KNOWN, hosts: [...KNOWN.hosts, { host: 'second', model: 'theirs' }] });
});

test('a host that already serves the model gets the name that the operator gave', () => {
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

test('a model that other hosts serve on one wire is requested on that wire here too, if this host speaks it', () => {
  const known: ModelRow = { ...KNOWN, hosts: [{ host: 'first', model: 'known', wire: 'responses' }] };
  const place = (wires: HostWire[], wire?: HostWire) => {
    const entry = { ...served('known'), ...(wire !== undefined && { wire }) };
    const one = host('second', [entry]);
    const [row] = addServedModels([known], [{ ...one, row: { ...one.row, wires } }]);
    return row?.hosts[1];
  };
  expect(place(['chat', 'responses'])).toMatchObject({ wire: 'responses' });
  expect(place(['chat'])).not.toHaveProperty('wire');
  expect(place(['chat', 'responses'], 'chat')).toMatchObject({ wire: 'chat' });
});

test('a host may have its own price, and a local host charges nothing', () => {
  const price = { input: 3, output: 4 };
  const [row] = addServedModels([KNOWN], [host('second', [{ ...served('known'), price }])]);
  expect(row?.hosts[1]).toEqual({ host: 'second', model: 'known', price });
  const [free] = addServedModels([KNOWN], [{ ...host('own', [served('known')]), local: true }]);
  expect(free?.hosts[1]).toEqual({ host: 'own', model: 'known', price: { input: 0, output: 0 } });
});

describe('models that a host lists itself', () => {
  const named: ModelRow = { ...KNOWN, aliases: ['also'] };
  const found = (name: string, ...ids: string[]): ConfiguredHost => ({
    ...host(name, []),
    local: true,
    found: ids.map((id) => served(id)),
  });
  const idsOf = (hosts: ConfiguredHost[]) =>
    addServedModels([named], hosts).map((row) => [row.id, row.hosts.map((place) => `${place.host}:${place.model}`)]);

  test('become new models under the host’s own names', () => {
    expect(idsOf([found('own', 'llama:3b')])).toEqual([
      ['known', ['first:known']],
      ['llama:3b', ['own:llama:3b']],
    ]);
  });

  test('never change the meaning of a catalog id or alias', () => {
    expect(idsOf([found('own', 'known', 'also')])).toEqual([
      ['known', ['first:known']],
      ['own/known', ['own:known']],
      ['own/also', ['own:also']],
    ]);
  });

  test('two servers that list the same model become two hosts of it', () => {
    expect(idsOf([found('a', 'llama'), found('b', 'llama')])[1]).toEqual(['llama', ['a:llama', 'b:llama']]);
  });

  test('an embedding model has the capability for embeddings and not for chat', () => {
    const embeds = { ...served('nomic-embed'), caps: ['embeddings'] as const, maxOutputTokens: 0 };
    const [, row] = addServedModels([KNOWN], [{ ...host('own', []), found: [embeds] }]);
    expect(row).toMatchObject({ caps: ['embeddings'], max_output_tokens: 0 });
  });
});
