import { describe, expect, test } from 'vitest';
import { refusalBy } from '../../test/chat-wire.ts';
import { EVERY_ROUTE } from '../../test/every-route.ts';
import { type Capability, ROUTE_OF_CAPABILITY } from '../canonical/capability.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { CapabilityNeed } from '../wires/peek.ts';
import { checkNeeds, effortFor } from './admit.ts';

const model = (...caps: Capability[]): CatalogModel =>
  ({ id: 'ferry', caps: new Set(caps) }) as unknown as CatalogModel;

const TEXT: CapabilityNeed = { capability: ['completions', 'chat'], param: 'model' };
const TOOLS: CapabilityNeed = { capability: 'tools', param: 'tools' };

describe('what a call needs of its model', () => {
  test.each<[Capability[]]>([[['chat']], [['completions']], [['completions', 'chat']]])(
    'accepts any one of several capabilities: %j',
    (caps) => {
      expect(() => checkNeeds(model(...caps), [TEXT])).not.toThrow();
    },
  );

  test.each<[Capability, string]>([
    ['embeddings', '/v1/embeddings'],
    ['decisions', '/v1/systemone'],
  ])('refuses a model for %s and names its route', (capability, route) => {
    expect(refusalBy(() => checkNeeds(model(capability, 'images'), [TEXT]))).toEqual({
      code: 'wrong_wire',
      param: 'model',
      message: `ferry is not a model for completions or chat. Send it to ${route}, or name another model.`,
    });
  });

  test('names only routes that exist', () => {
    const routes = EVERY_ROUTE.map(({ path }) => `/v1${path}`);
    expect(routes).toEqual(expect.arrayContaining(Object.values(ROUTE_OF_CAPABILITY)));
  });

  test('names the missing capability with the field that needs it', () => {
    expect(() => checkNeeds(model('chat', 'tools'), [TEXT, TOOLS])).not.toThrow();
    expect(refusalBy(() => checkNeeds(model('chat'), [TEXT, TOOLS]))).toMatchObject({
      code: 'missing_capability',
      param: 'tools',
      message: expect.stringContaining('ferry has no capability "tools"'),
    });
  });
});

test('a reasoning budget, however small, does not switch reasoning off', () => {
  const model = { reasoningEfforts: ['none', 'low', 'high'] as const };
  const ask = { effort: null, budgetTokens: null, hideReasoning: false, param: 'reasoning' };
  expect(effortFor(model, { reasoning: { ...ask, budgetTokens: 100 } }, 10_000)).toBe('low');
  expect(effortFor(model, { reasoning: { ...ask, effort: 'none' } }, 10_000)).toBe('none');
  expect(effortFor({ reasoningEfforts: ['none'] }, { reasoning: { ...ask, budgetTokens: 100 } }, 10_000)).toBeNull();
  expect(effortFor(model, { reasoning: ask }, 10_000)).toBeNull();
});
