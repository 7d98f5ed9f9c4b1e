import { expect, test } from 'vitest';
import { PLAIN, peekAt, refusalOf } from '../../../test/messages-request.ts';
import { LIMITS } from '../../limits.ts';

const TOOL = { name: 'tide', input_schema: { type: 'object' } };

test.each([
  ['bash_20250124', LIMITS.bashToolTokens],
  ['text_editor_20250728', LIMITS.textEditorToolTokens],
  ['memory_20250818', LIMITS.memoryToolTokens],
  ['computer_20251124', LIMITS.computerToolTokens],
  ['computer_toolset_20260801', LIMITS.computerToolTokens],
])('%s, which the client runs, is measured with the vendor’s prompt for it', (type, vendorToolTokens) => {
  const peeked = peekAt({ ...PLAIN, tools: [{ type, name: 'x', display_width_px: 1024 }, TOOL] });
  expect(peeked.size).toMatchObject({ tools: 2, vendorToolTokens });
  expect(peeked.needs).toContainEqual({ capability: 'tools', param: 'tools' });
});

test('a function in the form of another wire is a wrong value, not a tool of the vendor’s servers', () => {
  const tools = [{ type: 'function', function: { name: 'tide', parameters: {} } }];
  const ask = () => peekAt({ ...PLAIN, tools });
  expect(refusalOf(ask)).toEqual({ code: 'invalid_value', param: 'tools[0].type' });
  expect(ask).toThrow(/input_schema/);
});
