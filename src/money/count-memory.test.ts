import { expect, it } from 'vitest';
import { LIMITS } from '../limits.ts';
import { CountMemory, type Measures } from './count-memory.ts';

const ONE: Measures = [{ tokens: 1, asciiBytes: 2, otherBytes: 3 }];

it('tells texts, accounts and kinds apart, and differs between processes', () => {
  const memory = new CountMemory();
  const digest = memory.digest('kind', 'account', 'text');
  expect(memory.digest('kind', 'account', 'text')).toBe(digest);
  const others = [
    memory.digest('other', 'account', 'text'),
    memory.digest('kind', 'other', 'text'),
    memory.digest('kind', 'account', 'other'),
    new CountMemory().digest('kind', 'account', 'text'),
  ];
  expect(new Set([digest, ...others]).size).toBe(5);
});

it('finds what it keeps, for the same account only', () => {
  const memory = new CountMemory();
  memory.keep('account', 'digest', ONE);
  expect(memory.find('account', 'digest')).toBe(ONE);
  expect(memory.find('other', 'digest')).toBeUndefined();
});

it('forgets what an account has not used for longest once its share is full', () => {
  const memory = new CountMemory();
  for (let at = 0; at < LIMITS.tokenCountsKeptPerAccount; at++) memory.keep('account', `${at}`, ONE);
  expect(memory.find('account', '0')).toBe(ONE);
  memory.keep('account', 'new', ONE);
  expect(memory.find('account', '0')).toBe(ONE);
  expect(memory.find('account', '1')).toBeUndefined();
});

it('lets no account push out more than its share of what others keep', () => {
  const memory = new CountMemory();
  memory.keep('small', 'digest', ONE);
  for (let at = 0; at < 3 * LIMITS.tokenCountsKeptPerAccount; at++) memory.keep('large', `${at}`, ONE);
  expect(memory.find('small', 'digest')).toBe(ONE);
});

it('forgets the account that was not used for longest once all shares together are full', () => {
  const memory = new CountMemory();
  memory.keep('oldest', 'digest', ONE);
  const accounts = LIMITS.tokenCountsKept / LIMITS.tokenCountsKeptPerAccount;
  for (let account = 0; account < accounts; account++) {
    for (let at = 0; at < LIMITS.tokenCountsKeptPerAccount; at++) memory.keep(`${account}`, `${at}`, ONE);
  }
  expect(memory.find('oldest', 'digest')).toBeUndefined();
  expect(memory.find('0', '0')).toBe(ONE);
});
