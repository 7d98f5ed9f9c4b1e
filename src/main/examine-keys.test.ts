import { expect, test } from 'vitest';
import type { KeyVerdict } from '../hosts/check-keys.ts';
import { findingOf } from './examine-keys.ts';

test.each<[KeyVerdict, string, string, string | null]>([
  [{ kind: 'accepted' }, 'ok', 'OPENAI_API_KEY is accepted', null],
  [
    { kind: 'rejected', status: 401 },
    'failure',
    'OPENAI_API_KEY is rejected (status 401)',
    'set OPENAI_API_KEY to a valid key',
  ],
  [
    { kind: 'unknown', status: 404 },
    'ok',
    'OPENAI_API_KEY could not be checked: the host answered with status 404',
    null,
  ],
  [
    { kind: 'unreachable', reason: 'ENOTFOUND' },
    'warning',
    'openai cannot be reached: ENOTFOUND',
    'check the network, or skip with --offline',
  ],
])('reports a key that is %j', (verdict, status, detail, remedy) => {
  const finding = findingOf({ host: 'openai', keySource: 'OPENAI_API_KEY', verdict });
  expect(finding).toEqual({ check: 'key of openai', status, detail, remedy });
});
