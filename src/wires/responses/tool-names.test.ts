import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { offeredTools, ToolNames } from './tool-names.ts';

const fn = (name: string) => ({ type: 'function', name });
const group = (name: string, ...tools: object[]) => ({ type: 'namespace', name, tools });

test('tools that items of the input add are offered too, each once', () => {
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [group('crm', fn('list'))] },
    { type: 'tool_search_output', call_id: 'c', tools: [group('crm', fn('list'), fn('sum'))] },
    { role: 'user', content: 'x' },
  ];
  const names = new ToolNames(
    offeredTools({ tools: [fn('run'), { type: 'tool_search', execution: 'client' }], input }),
  );
  expect(names.find('crm__sum')).toEqual({ namespace: 'crm', name: 'sum', kind: 'function' });
  expect(names.flatten('crm', 'list')).toBe('crm__list');
  expect(names.find('tool_search')).toEqual({ namespace: null, name: 'tool_search', kind: 'search' });
});

describe('the names of tools inside a namespace', () => {
  test('begin with the namespace, and lead back to the tool', () => {
    const names = new ToolNames([fn('run'), group('crm', fn('list'), { type: 'custom', name: 'patch' })]);
    expect(names.flatten('crm', 'list')).toBe('crm__list');
    expect(names.find('crm__list')).toEqual({ namespace: 'crm', name: 'list', kind: 'function' });
    expect(names.find('crm__patch')).toEqual({ namespace: 'crm', name: 'patch', kind: 'custom' });
    expect(names.find('run')).toEqual({ namespace: null, name: 'run', kind: 'function' });
    expect(names.find('list')).toBeUndefined();
  });

  test('are the same for a tool that is no longer offered', () => {
    const names = new ToolNames([]);
    expect(names.flatten('crm', 'list')).toBe('crm__list');
    expect(names.flatten('a.b', 'c d')).toBe(new ToolNames([group('a.b', fn('c d'))]).flatten('a.b', 'c d'));
  });

  test('differ although somebody has taken the name that a digest would give', () => {
    const taken = new ToolNames([group('a', fn('b__c')), group('a__b', fn('c'))]).flatten('a__b', 'c');
    const names = new ToolNames([group('a', fn('b__c'), fn(taken.slice('a__'.length))), group('a__b', fn('c'))]);
    const flat = names.flatten('a__b', 'c');
    expect(flat).not.toBe(taken);
    expect(names.find(flat)).toEqual({ namespace: 'a__b', name: 'c', kind: 'function' });
    expect(names.find(taken)).toMatchObject({ namespace: 'a' });
  });

  test('leave a tool outside the namespace its own name', () => {
    const names = new ToolNames([group('crm', fn('list')), fn('crm__list')]);
    expect(names.find('crm__list')).toEqual({ namespace: null, name: 'crm__list', kind: 'function' });
    expect(names.find(names.flatten('crm', 'list'))).toEqual({ namespace: 'crm', name: 'list', kind: 'function' });
  });

  test('are found for a tool that the caller names without its namespace', () => {
    const names = new ToolNames([fn('run'), group('crm', fn('list'), fn('run'))]);
    expect(['run', 'list', 'other'].map((name) => names.flattenBare(name))).toEqual(['run', 'crm__list', 'other']);
  });

  test('are reversible, differ from one another and fit what hosts accept, whatever the caller chose', () => {
    const name = fc.oneof(fc.constantFrom('a', 'a__b', 'b', 'b__c', 'é', 'x'.repeat(70)), fc.string({ minLength: 1 }));
    const pairs = fc.uniqueArray(fc.tuple(name, name), { selector: (pair) => JSON.stringify(pair), maxLength: 12 });
    fc.assert(
      fc.property(pairs, (given) => {
        const names = new ToolNames(given.map(([namespace, tool]) => group(namespace, fn(tool))));
        const flat = given.map(([namespace, tool]) => names.flatten(namespace, tool));
        expect(new Set(flat).size).toBe(given.length);
        for (const [index, [namespace, tool]] of given.entries()) {
          expect(flat[index]).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(names.find(flat[index])).toMatchObject({ namespace, name: tool });
        }
      }),
    );
  });
});
