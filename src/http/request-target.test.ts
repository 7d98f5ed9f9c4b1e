import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkTarget } from './request-target.ts';

describe('accepts a path that can be read in only one way', () => {
  test.each([
    '/',
    '/v1/chat/completions',
    '/v1/chat/completions/',
    '/v1/chat/completions?api-version=1',
    '/v1/models/vendor%2Fmodel',
    '/models/vendor%2fmodel',
    '/api/v1/models/hf.co%2Fa%2Fb:Q4_K_M',
    '/openai/v1/models/a%2Fb',
    '/openai/deployments/a%2Fb/chat/completions?api-version=2024-10-21',
    '/v1/models/gpt-4.1',
    '/v1/models/...',
    '/v1/models/a..b',
    '/v1/models/.hidden',
    '/v1/models/a%20b%C3%A9%25',
    // What follows the question mark is not part of the path.
    '/v1/models?next=//evil/../%2e%00\\#',
  ])('%s', (target) => expect(checkTarget(target)).toBeNull());
});

test('says where two slashes usually come from: a base URL that ends in one', () => {
  expect(checkTarget('/v1//chat/completions')!.message).toContain('base URL');
});

describe('refuses a path that another reader could take for a different one', () => {
  test.each([
    ['an absolute form', 'http://evil.example/v1/models', 'begins with a slash'],
    ['an authority', 'evil.example:443', 'begins with a slash'],
    ['an asterisk', '*', 'begins with a slash'],
    ['nothing', '', 'begins with a slash'],
    ['two slashes', '//evil.example/v1/models', 'two slashes'],
    ['two slashes inside', '/v1//models', 'two slashes'],
    ['two slashes at the end', '/v1/models//', 'two slashes'],
    ['a way up', '/v1/../metrics', '".."'],
    ['a way up at the end', '/v1/models/..', '".."'],
    ['a way up before a query', '/v1/models/..?a=1', '".."'],
    ['a way nowhere', '/v1/./models', '"."'],
    ['a way up in the id of a model', '/v1/models/a%2f..%2fb', '".."'],
    ['a way up at the end of an id', '/v1/models/a%2f..', '".."'],
    ['an escaped dot', '/v1/%2e%2e/metrics', 'escaped dot'],
    ['an escaped dot in capitals', '/v1/.%2E/metrics', 'escaped dot'],
    ['an escaped slash', '/v1%2fmodels', 'escaped slash'],
    ['an escaped slash beside the models', '/v1/modelsx/a%2fb', 'escaped slash'],
    ['an escaped slash in a receipt', '/v1/receipts/a%2Fb', 'escaped slash'],
    ['an escaped backslash', '/v1/models/a%5cb', 'backslash'],
    ['a backslash', '/v1\\models', 'backslash'],
    ['an escaped zero byte', '/v1/models/a%00', 'control'],
    ['an escaped line break', '/v1/models/a%0d%0ahost:', 'control'],
    ['an escaped delete', '/v1/models/a%7f', 'control'],
    ['a fragment', '/v1/models#top', '#'],
    ['letters no address has', '/v1/models/é', 'escaping'],
    ['letters no address has in its query', '/v1/models?a=\xff', 'query'],
    ['an invalid escape', '/v1/models/%zz', 'hexadecimal'],
    ['half an escape', '/v1/models/%2', 'hexadecimal'],
    ['an escape that breaks off', '/v1/models/%', 'hexadecimal'],
  ])('%s', (_, target, words) => {
    const error = checkTarget(target);
    expect(error).toMatchObject({ status: 400, code: 'bad_request', type: 'invalid_request_error' });
    expect(error!.message).toContain(words);
  });
});

test('accepts only targets that a URL parser reads as the same path', () => {
  const piece = fc.constantFrom(
    '/',
    '//',
    '.',
    '..',
    '%2e',
    '%2F',
    '%5c',
    '\\',
    'v1',
    'models',
    '%00',
    'a',
    '?',
    '#',
    ':',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const target = `/${pieces.join('')}`;
      if (checkTarget(target) !== null) return;
      const url = new URL(target, 'http://gateway.example');
      expect([url.host, url.pathname]).toEqual(['gateway.example', target.split('?', 1)[0]]);
    }),
    { numRuns: 2000 },
  );
});
