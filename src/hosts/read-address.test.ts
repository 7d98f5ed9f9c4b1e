import { describe, expect, test } from 'vitest';
import type { HostAddress } from './host.ts';
import { AddressUnreadable, readAddress } from './read-address.ts';

const LOCAL: HostAddress = { variables: ['FIRST', 'SECOND'], path: '/v1', port: 11_434 };
const RESOURCE: HostAddress = { variables: ['ENDPOINT'], path: '/openai/v1', port: null };

const read = (address: HostAddress, text: string) =>
  readAddress(address, { [address.variables[0]!]: text })?.baseUrl ?? null;

describe('the address of a local server', () => {
  test.each([
    ['gpu', 'http://gpu:11434/v1'],
    ['gpu:9000', 'http://gpu:9000/v1'],
    [':9000', 'http://127.0.0.1:9000/v1'],
    ['0.0.0.0', 'http://127.0.0.1:11434/v1'],
    ['0.0.0.0:9000', 'http://127.0.0.1:9000/v1'],
    ['[::]:9000', 'http://[::1]:9000/v1'],
    ['[::1]', 'http://[::1]:11434/v1'],
    ['192.168.0.7/', 'http://192.168.0.7:11434/v1'],
    ['http://gpu', 'http://gpu/v1'],
    ['https://gpu.example', 'https://gpu.example/v1'],
    [' http://gpu:8000/v1/ ', 'http://gpu:8000/v1'],
    ['http://gpu/behind/a/proxy/v1', 'http://gpu/behind/a/proxy/v1'],
  ])('%j is read as %s', (text, url) => {
    expect(read(LOCAL, text)).toBe(url);
  });

  test.each([
    'http://',
    'ftp://gpu',
    'http://user:word@gpu',
    'http://gpu/?key=1',
    'http://gpu/#x',
    'gpu:99999',
    'g p u',
  ])('%j is refused, and the message does not repeat it', (text) => {
    expect(() => read(LOCAL, text)).toThrow(AddressUnreadable);
    expect(() => read(LOCAL, text)).toThrow('FIRST must be an address like "http://localhost:11434/v1"');
  });

  test('with another path is refused', () => {
    expect(() => read(LOCAL, 'http://gpu/api/chat')).toThrow('FIRST must end in "/v1"');
  });
});

describe('the address of a cloud resource', () => {
  test.each(['', '/', '/openai', '/openai/', '/openai/v1', '/openai/v1/'])('may end in %j', (path) => {
    expect(read(RESOURCE, `https://name.openai.azure.com${path}`)).toBe('https://name.openai.azure.com/openai/v1');
  });

  test.each(['name.openai.azure.com', '/openai/v1', 'https://x.example/openai/deployments/gpt'])(
    '%j is refused',
    (text) => {
      expect(() => read(RESOURCE, text)).toThrow(AddressUnreadable);
    },
  );
});

test('the first variable that is not empty is used', () => {
  expect(readAddress(LOCAL, { FIRST: '', SECOND: 'b' })).toEqual({ baseUrl: 'http://b:11434/v1', source: 'SECOND' });
  expect(readAddress(LOCAL, { FIRST: 'a', SECOND: 'b' })).toEqual({ baseUrl: 'http://a:11434/v1', source: 'FIRST' });
  expect(readAddress(LOCAL, { FIRST: '  ' })).toBeNull();
});
