import { expect, test } from 'vitest';
import { readBatchFile } from './batch-file.ts';

test('reads one request per line, and leaves empty lines out', () => {
  expect(readBatchFile('{"custom_id":"a"}\n\r\n{"custom_id":"b"}\n')).toEqual([{ custom_id: 'a' }, { custom_id: 'b' }]);
});

test('names the line that is not valid', () => {
  expect(readBatchFile('{}\n{')).toContain('Line 2');
  expect(readBatchFile('\n')).toBe('The file is empty.');
});
