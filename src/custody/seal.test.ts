import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Associated, MasterSealer, masterKey, SEAL_OVERHEAD_BYTES, sealedUnder } from './seal.ts';

const OLD = masterKey(randomBytes(32));
const NEW = masterKey(randomBytes(32));
const PLACE: Associated = ['provider key', 'account 1', 'row 2', 'cloud', 'https://resource.example'];

const bytes = fc.uint8Array({ maxLength: 300 });
const places = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 6 });

describe('a seal', () => {
  test('decrypts to the original with the same associated values', () => {
    fc.assert(
      fc.property(bytes, places, (plain, place) => {
        const sealer = new MasterSealer([NEW]);
        const sealed = sealer.seal(plain, place);
        expect(sealed).toHaveLength(plain.length + SEAL_OVERHEAD_BYTES);
        expect(sealer.open(sealed, place)).toEqual(Buffer.from(plain));
      }),
    );
  });

  test('does not decrypt if any bit of it changed', () => {
    const sealer = new MasterSealer([NEW, OLD]);
    const sealed = sealer.seal(Buffer.from('a secret of some length'), PLACE);
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect([bit, sealer.open(changed, PLACE), sealer.rewrap(changed, PLACE)]).toEqual([bit, null, null]);
    }
  });

  test('does not decrypt if it was cut or extended', () => {
    const sealer = new MasterSealer([NEW]);
    const sealed = sealer.seal(Buffer.from('secret'), PLACE);
    for (let length = 0; length < sealed.length; length++) {
      expect(sealer.open(sealed.subarray(0, length), PLACE)).toBeNull();
    }
    expect(sealer.open(Buffer.concat([sealed, Buffer.of(0)]), PLACE)).toBeNull();
  });

  test('does not decrypt with other associated values', () => {
    const sealer = new MasterSealer([NEW]);
    fc.assert(
      fc.property(bytes, places, places, (plain, place, other) => {
        fc.pre(JSON.stringify(place) !== JSON.stringify(other));
        expect(sealer.open(sealer.seal(plain, place), other)).toBeNull();
      }),
    );
  });

  test('does not decrypt with associated values that only look the same when joined', () => {
    const sealer = new MasterSealer([NEW]);
    const sealed = sealer.seal(Buffer.from('secret'), ['ab', 'c']);
    for (const other of [['a', 'bc'], ['abc'], ['ab', 'c', ''], ['', 'ab', 'c'], ['ab\0c'], []]) {
      expect(sealer.open(sealed, other)).toBeNull();
    }
  });

  test('is never the same twice', () => {
    const sealer = new MasterSealer([NEW]);
    const seals = Array.from({ length: 50 }, () => Buffer.from(sealer.seal(Buffer.of(1), PLACE)).toString('hex'));
    expect(new Set(seals).size).toBe(50);
  });

  test('does not show its content', () => {
    const sealed = Buffer.from(new MasterSealer([NEW]).seal(Buffer.from('sk-canary-in-a-cage'), PLACE));
    expect(sealed.includes('canary')).toBe(false);
    expect(sealed.includes('resource.example')).toBe(false);
  });
});

describe('a change of master keys', () => {
  test('leaves old seals readable only while the old key is known', () => {
    const sealed = new MasterSealer([OLD]).seal(Buffer.from('secret'), PLACE);
    expect(sealedUnder(sealed)).toBe(OLD.id);
    const sealer = new MasterSealer([NEW, OLD]);
    expect(sealer.open(sealed, PLACE)).toEqual(Buffer.from('secret'));
    expect(sealedUnder(sealer.seal(Buffer.of(1), PLACE))).toBe(NEW.id);
    sealer.useKeys([NEW]);
    expect(sealer.open(sealed, PLACE)).toBeNull();
  });

  test('moves a seal to the new key without changing its content', () => {
    const sealed = new MasterSealer([OLD]).seal(Buffer.from('secret'), PLACE);
    const moved = new MasterSealer([NEW, OLD]).rewrap(sealed, PLACE)!;
    expect(sealedUnder(moved)).toBe(NEW.id);
    expect(new MasterSealer([NEW]).open(moved, PLACE)).toEqual(Buffer.from('secret'));
    expect(new MasterSealer([OLD]).open(moved, PLACE)).toBeNull();
    expect(new MasterSealer([NEW, OLD]).rewrap(sealed, ['elsewhere'])).toBeNull();
    expect(new MasterSealer([NEW]).rewrap(sealed, PLACE)).toBeNull();
  });

  test('a key has an id that reveals nothing about it', () => {
    expect(OLD.id).toMatch(/^[0-9a-f]{16}$/);
    expect(OLD.id).not.toBe(NEW.id);
    expect(Buffer.from(OLD.bytes).toString('hex')).not.toContain(OLD.id);
    expect(() => masterKey(randomBytes(16))).toThrow('32 bytes');
  });

  test('an unknown version is not decrypted', () => {
    const sealer = new MasterSealer([NEW]);
    const sealed = sealer.seal(Buffer.from('secret'), PLACE);
    sealed[0] = 2;
    expect([sealedUnder(sealed), sealer.open(sealed, PLACE)]).toEqual([null, null]);
    expect(sealedUnder(Buffer.alloc(0))).toBeNull();
  });
});
