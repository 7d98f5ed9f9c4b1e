import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Secret } from '../kit/secret.ts';
import { addOwnKey, MasterKeyError, parseMasterKeys, readMasterKeys, readMasterKeysMeanwhile } from './master-keys.ts';
import { MasterSealer } from './seal.ts';

const SOURCE = 'TOLLGATE_MASTER_KEY';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(MasterKeyError);
    return (error as Error).message;
  }
  throw new Error('Nothing was refused.');
}

describe('a master key', () => {
  test('is accepted as 32 random bytes in base64, base64url or hexadecimal', () => {
    const bytes = randomBytes(32);
    const spellings = (['base64', 'base64url', 'hex'] as const).map((form) => bytes.toString(form));
    const ids = spellings.map((text) => parseMasterKeys(` ${text}\n`, SOURCE)[0].id);
    expect(new Set(ids).size).toBe(1);
  });

  test('may be followed by the keys it replaces, and by comments', () => {
    const [current, previous] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64'));
    const keys = parseMasterKeys(`# since May\n${current}  # this one\n\n${previous},`, SOURCE);
    expect(keys.map(({ bytes }) => Buffer.from(bytes).toString('base64'))).toEqual([current, previous]);
  });

  test('is never called weak if it is random', () => {
    for (let count = 0; count < 2000; count++) parseMasterKeys(randomBytes(32).toString('base64'), SOURCE);
  });

  test.each([
    ['nothing', '', 'holds no master key'],
    ['only a note', '# later', 'holds no master key'],
    ['a phrase', 'correct-horse-battery-staple', 'not 32 bytes'],
    ['too short', randomBytes(16).toString('base64'), 'not 32 bytes'],
    ['too long', randomBytes(48).toString('base64'), 'not 32 bytes'],
    ['zeros', Buffer.alloc(32).toString('base64'), 'its bytes repeat'],
    ['one word twice', Buffer.concat([Buffer.alloc(16, 1), Buffer.alloc(16, 2)]).toString('hex'), 'its bytes repeat'],
    ['counting', Buffer.from(Array.from({ length: 32 }, (_, at) => at)).toString('hex'), 'follow a pattern'],
    ['a phrase in base64', Buffer.from('abcdefgh1234+-*/ijklmnopqrstuvwz').toString('base64'), 'weak'],
    ['text in base64', Buffer.from('Tr0ub4dor&3-xKqW9!mZp7#cVb2$LnYs').toString('base64'), 'it is text'],
  ])('is refused for %s, with the remedy and without the content', (_, text, why) => {
    const message = refusal(() => readMasterKeys({ kind: 'text', text: new Secret(text), source: SOURCE }));
    expect(message).toContain(SOURCE);
    expect(message).toContain(why);
    expect(message).toContain('openssl rand -base64 32');
    if (text.length > 8) expect(message).not.toContain(text);
  });

  test('is refused if it is listed twice, or in too long a list', () => {
    const key = randomBytes(32).toString('base64');
    expect(refusal(() => parseMasterKeys(`${key},${key}`, SOURCE))).toContain('twice');
    const many = Array.from({ length: 17 }, () => randomBytes(32).toString('base64')).join('\n');
    expect(refusal(() => parseMasterKeys(many, SOURCE))).toContain('17');
  });

  test('is required by name in hosted mode', () => {
    expect(refusal(() => readMasterKeys({ kind: 'none', source: SOURCE }))).toContain('set TOLLGATE_MASTER_KEY');
  });
});

describe('the file in the data folder', () => {
  const own = () => ({ kind: 'own-file', path: join(folder, 'master.key'), source: 'data folder' }) as const;

  test('is made when it is first needed, readable only by its owner, and not made again', () => {
    const first = readMasterKeys(own());
    expect(statSync(own().path).mode & 0o777).toBe(0o600);
    expect(readMasterKeys(own())).toEqual(first);
    expect(first).toHaveLength(1);
  });

  test.each([0o640, 0o604, 0o620, 0o666])('is refused when others can get at it (mode %o), with the remedy', (mode) => {
    readMasterKeys(own());
    chmodSync(own().path, mode);
    expect(refusal(() => readMasterKeys(own()))).toContain(`chmod 600 ${own().path}`);
  });

  test('takes a new key before the old ones, which still decrypt', () => {
    const before = readMasterKeys(own());
    const sealed = new MasterSealer(before).seal(Buffer.from('secret'), []);
    const after = addOwnKey(own().path);
    expect(after.map(({ id }) => id)).toEqual([expect.any(String), before[0].id]);
    expect(readMasterKeys(own())).toEqual(after);
    expect(new MasterSealer(after).open(sealed, [])).toEqual(Buffer.from('secret'));
    expect(statSync(own().path).mode & 0o777).toBe(0o600);
  });

  test('refuses more keys than can be read again', () => {
    for (let count = readMasterKeys(own()).length; count < 16; count++) addOwnKey(own().path);
    expect(refusal(() => addOwnKey(own().path))).toContain('Remove those');
    expect(readMasterKeys(own())).toHaveLength(16);
  });

  test('says in a comment what it is for', () => {
    readMasterKeys(own());
    expect(readFileSync(own().path, 'utf8')).toContain('Keep a copy');
  });

  test('is refused if it is empty, and not replaced', () => {
    writeFileSync(own().path, '', { mode: 0o600 });
    expect(refusal(() => readMasterKeys(own()))).toContain('holds no master key');
  });
});

describe('a file that the operator names', () => {
  const given = (path: string) => ({ kind: 'file', path, source: 'TOLLGATE_MASTER_KEY_FILE' }) as const;

  test('is read even if other users can read it', () => {
    const path = join(folder, 'mounted');
    writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o444 });
    expect(readMasterKeys(given(path))).toHaveLength(1);
  });

  test('is refused if others may change it, if it is missing and if it is too large', () => {
    const path = join(folder, 'mounted');
    writeFileSync(path, randomBytes(32).toString('base64'));
    chmodSync(path, 0o666);
    expect(refusal(() => readMasterKeys(given(path)))).toContain('chmod go-w');
    expect(refusal(() => readMasterKeys(given(join(folder, 'none'))))).toContain('ENOENT');
    writeFileSync(join(folder, 'large'), 'x'.repeat(70_000));
    expect(refusal(() => readMasterKeys(given(join(folder, 'large'))))).toContain('too large');
  });
});

describe('a command', () => {
  const ask = (command: string) => ({ kind: 'command', command, source: 'TOLLGATE_MASTER_KEY_COMMAND' }) as const;

  test('prints the keys', () => {
    const key = randomBytes(32).toString('base64');
    expect(readMasterKeys(ask(`printf '%s' '${key}'`))).toEqual(parseMasterKeys(key, SOURCE));
  });

  test('that is read meanwhile stops nothing else, and prints the same keys', async () => {
    const [key, sign] = [randomBytes(32).toString('base64'), join(folder, 'sign')];
    const waiting = readMasterKeysMeanwhile(ask(`until [ -e '${sign}' ]; do :; done; printf '%s' '${key}'`));
    writeFileSync(sign, '');
    expect(await waiting).toEqual(parseMasterKeys(key, SOURCE));
  });

  test('that fails meanwhile is named in the same way', async () => {
    await expect(readMasterKeysMeanwhile(ask('echo x; exit 3'))).rejects.toThrow(
      'The command of TOLLGATE_MASTER_KEY_COMMAND ended with 3.',
    );
    await expect(readMasterKeysMeanwhile(ask('yes'))).rejects.toThrow('failed (ENOBUFS)');
    await expect(readMasterKeysMeanwhile(ask('true'))).rejects.toThrow('holds no master key');
  });

  test('that fails is named by its setting and its end', () => {
    const message = refusal(() => readMasterKeys(ask('echo not-a-key-either; exit 3')));
    expect(message).toBe('The command of TOLLGATE_MASTER_KEY_COMMAND ended with 3.');
    expect(refusal(() => readMasterKeys(ask('true')))).toContain('holds no master key');
  });
});
