import { describe, expect, test } from 'vitest';
import { methodsAt } from './errors.ts';
import { PREFIXES } from './path-aliases.ts';
import { pathOf, Router } from './router.ts';
import type { Route } from './routes.ts';

function route(method: Route['method'], path: string): Route {
  return { method, path, access: 'key', answer: () => ({ status: 200, body: null }) };
}

const LIST = route('GET', '/receipts');
const ONE = route('GET', '/receipts/*');
const ASK = route('POST', '/chat/completions');
const DROP = route('DELETE', '/keys/*');
const router = new Router([LIST, ONE, ASK, DROP]);

describe('a route', () => {
  test.each(PREFIXES)('is found under the prefix %j', (prefix) => {
    expect(router.find('POST', `${prefix}/chat/completions`)).toEqual({
      route: ASK,
      pattern: `${prefix}/chat/completions`,
      param: '',
    });
  });

  test('that ends in a star takes the rest of the path as it was written', () => {
    expect(router.find('GET', '/v1/receipts/req_a%2Fb/c')).toEqual({
      route: ONE,
      pattern: '/v1/receipts/*',
      param: 'req_a%2Fb/c',
    });
  });

  test('with an exact path wins over one with a star', () => {
    expect(new Router([ONE, route('GET', '/receipts/all')]).find('GET', '/v1/receipts/all')?.pattern).toBe(
      '/v1/receipts/all',
    );
  });

  test('is found with a slash behind it, before one with a star', () => {
    expect(router.find('POST', '/v1/chat/completions/')?.route).toBe(ASK);
    expect(router.find('GET', '/v1/receipts/')?.route).toBe(LIST);
  });

  test('with a star is found with a slash behind its parameter, which does not belong to it', () => {
    expect(router.find('DELETE', '/v1/keys/cloud/')).toMatchObject({ route: DROP, param: 'cloud' });
    expect(router.find('HEAD', '/receipts/req_a%2F/')).toMatchObject({ route: ONE, param: 'req_a%2F' });
  });

  test('with a star is not found by the path without its slash', () => {
    expect(router.find('GET', '/v1/receipts')?.route).toBe(LIST);
    expect(router.find('DELETE', '/v1/keys')).toBeNull();
    expect(router.find('DELETE', '/v1/keys/')).toMatchObject({ route: DROP, param: '' });
  });
});

describe('a path that names its model', () => {
  test.each([
    ['/openai/deployments/sim-gpt/chat/completions', 'sim-gpt'],
    ['/openai/deployments/vendor%2Fsim-gpt/chat/completions/', 'vendor%2Fsim-gpt'],
    ['/openai/deployments/vendor/sim-gpt/chat/completions', 'vendor/sim-gpt'],
  ])('%s leads to the route behind it', (path, model) => {
    const pattern = '/openai/deployments/*/chat/completions';
    expect(router.find('POST', path)).toEqual({ route: ASK, pattern, param: '', model });
    expect(router.find('GET', path)).toBeNull();
  });

  test.each(['/openai/deployments/sim-gpt/receipts', '/openai/deployments//chat/completions'])(
    '%s does not',
    (path) => {
      expect(router.find('POST', path)).toBeNull();
    },
  );
});

describe('no route is found', () => {
  test.each([
    ['for another method', 'PUT', '/v1/chat/completions'],
    ['for a method in small letters', 'post', '/v1/chat/completions'],
    ['for another method of a path with a star', 'POST', '/v1/receipts/x'],
    ['for a longer path', 'POST', '/v1/chat/completions/x'],
    ['for two slashes at the end', 'POST', '/v1/chat/completions//'],
    ['for another case', 'POST', '/v1/Chat/completions'],
    ['for an unknown prefix', 'POST', '/v9/chat/completions'],
    ['for a name that every object has', 'GET', 'constructor'],
    ['for a method that every object has', 'constructor', '/v1/receipts'],
  ])('%s', (_, method, path) => {
    expect(router.find(method, path)).toBeNull();
  });
});

test.each([
  ['/v1/models', '/v1/models'],
  ['/v1/models?limit=2', '/v1/models'],
  ['/v1/models?', '/v1/models'],
  ['/v1/models?a=b?c', '/v1/models'],
  ['?', ''],
])('the path of %s is %s', (target, path) => {
  expect(pathOf(target)).toBe(path);
});

describe('the methods that a 405 names', () => {
  const routes = [
    route('POST', '/jobs'),
    route('POST', '/jobs/groups'),
    route('GET', '/jobs/groups'),
    route('GET', '/jobs/groups/*'),
    route('POST', '/jobs/*/cancel'),
    route('GET', '/jobs/*'),
    route('DELETE', '/jobs/*'),
  ];

  test.each([
    ['/v1/jobs/groups', ['POST', 'GET']],
    ['/v1/jobs/groups/group_1', ['GET']],
    ['/v1/jobs/job_1/cancel?now', ['POST']],
    ['/v1/jobs/job_1', ['GET', 'DELETE']],
    ['/v1/jobs/', ['POST']],
    ['/v1/elsewhere', []],
  ])('at %s are those of the route that is meant', (url, methods) => {
    expect(methodsAt({ url }, routes)).toEqual(methods);
  });
});
