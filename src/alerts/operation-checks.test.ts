import { expect, test } from 'vitest';
import { checkHosts } from './operation-checks.ts';

test('a host that refuses every request is reported, until it serves one', () => {
  const check = (state: string, isRefusing: boolean) => checkHosts([{ host: 'alpha', state, isRefusing }]);
  expect(check('well', true)).toMatchObject({
    findings: [
      {
        condition: 'host:alpha',
        message:
          'The host "alpha" refuses every request with 402 or 403. Perhaps our account there has no credit, or lacks a permission.',
        figures: { state: 'refusing' },
      },
    ],
    cleared: [],
  });
  expect(check('limited', true).findings).toHaveLength(1);
  expect(check('ejected', true).findings).toMatchObject([{ figures: { state: 'ejected' } }]);
  expect(check('well', false)).toEqual({ findings: [], cleared: ['host:alpha'] });
});
