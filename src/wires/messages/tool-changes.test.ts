import { describe, expect, test } from 'vitest';
import { PLAIN, peekAt } from '../../../test/messages-request.ts';
import { LIMITS } from '../../limits.ts';

const BASH = { type: 'bash_20250124', name: 'bash', defer_loading: true };
const OWN = { name: 'look', input_schema: { type: 'object' }, defer_loading: true };

/** Results that refer to a tool this many times. */
function referring(name: string, times: number): object[] {
  return Array.from({ length: times }, (_, index) => ({
    type: 'tool_result',
    tool_use_id: `toolu_${index}`,
    content: [{ type: 'tool_reference', tool_name: name }],
  }));
}

function sizeOf(tools: object[], content: object[]) {
  return peekAt({ ...PLAIN, tools, messages: [{ role: 'user', content }] }).size;
}

/** By how much the bound on what hosts add grows with a second reference. */
function addedBySecond(tool: { name: string; description?: string }): number {
  const tokens = (times: number) => sizeOf([tool], referring(tool.name, times)).vendorToolTokens ?? 0;
  return tokens(2) - tokens(1);
}

describe('a second reference to a tool', () => {
  test('counts as a tool, with all bytes that its definition has when a host escapes it again', () => {
    const tool = { ...OWN, description: '潮'.repeat(100) };
    const bytes = Buffer.byteLength(JSON.stringify(tool));
    expect(addedBySecond(tool)).toBe(bytes * LIMITS.toolBytesInflationMax);
    expect([1, 2].map((times) => sizeOf([tool], referring(tool.name, times)).tools)).toEqual([1, 2]);
  });

  test('counts the bytes of the normalised definition if those are more', () => {
    expect(addedBySecond({ ...OWN, description: 'ﷺ'.repeat(100) })).toBeGreaterThan(3_300);
  });

  test('counts the prompt that the vendor adds for a tool of its own', () => {
    expect(addedBySecond(BASH)).toBeGreaterThan(LIMITS.bashToolTokens);
  });
});

test('the bound on references to one tool does not depend on names that JavaScript knows', () => {
  for (const name of ['__proto__', 'constructor']) {
    const tool = { ...OWN, name };
    expect(addedBySecond(tool)).toBe(Buffer.byteLength(JSON.stringify(tool)) * LIMITS.toolBytesInflationMax);
  }
});

describe('the cache mark of a tool that is added in the middle of a conversation', () => {
  const cacheWrites = (tool: object) =>
    peekAt({ ...PLAIN, messages: [{ role: 'system', content: [{ type: 'tool_addition', tool }] }] }).cacheWrites;
  const cache_control = { type: 'ephemeral', ttl: '1h' };

  test.each<[string, object]>([
    ['in its definition', { type: 'tool_definition', definition: { ...OWN, cache_control } }],
    ['beside its definition', { type: 'tool_definition', definition: OWN, cache_control }],
    ['in its reference', { type: 'tool_reference', name: 'look', cache_control }],
  ])('counts %s', (_, tool) => {
    expect(cacheWrites(tool)).toBe('one_hour');
  });
});
