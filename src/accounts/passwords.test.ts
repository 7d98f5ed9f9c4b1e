import { describe, expect, test } from 'vitest';
import { hashPassword, passwordFault, passwordFits } from './passwords.ts';

describe('a password', () => {
  test('fits its own hash alone, which names algorithm and work and is never the same twice', async () => {
    const hash = await hashPassword('correct horse battery');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await hashPassword('correct horse battery')).not.toBe(hash);
    expect(await passwordFits('correct horse battery', hash)).toBe(true);
    expect(await passwordFits('correct horse batterx', hash)).toBe(false);
  });

  test('fits however its letters were composed', async () => {
    expect(await passwordFits('Cafe\u0301 au lait, bitte', await hashPassword('Caf\u00e9 au lait, bitte'))).toBe(true);
  });

  test('fits a hash made where Argon2 was missing, and with less work', async () => {
    const hash = '$scrypt$n=1024,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$8MlsZShOjXVK7yiJFa12anF7L+Cr1XaljTjtEUaS8AQ';
    expect(await passwordFits('the other way in', hash)).toBe(true);
    expect(await passwordFits('anything at all', hash)).toBe(false);
  });

  test('fits nothing where there is no hash, and is not hashed if it is too long', async () => {
    expect(await passwordFits('correct horse battery', null)).toBe(false);
    expect(await passwordFits('x'.repeat(257), await hashPassword('correct horse battery'))).toBe(false);
  });

  test.each([
    ['short', 'The password has 5 characters. Use at least 12.'],
    ['🔑🔑🔑🔑🔑🔑', 'The password has 6 characters. Use at least 12.'],
    ['x'.repeat(300), 'The password has 300 characters. Use at most 256.'],
    ['Qwerty123456', 'This password is one of the most common ones. Choose another.'],
    ['aaaaaaaaaaaab', 'The password repeats a few characters. Choose another.'],
    ['correct horse battery', null],
  ])('%s is judged before it is stored', (password, fault) => {
    expect(passwordFault(password)).toBe(fault);
  });
});
