import { expect, test } from 'vitest';
import { Gates } from './gates.ts';

test('releases let through as many as were given, first come first', () => {
  const gates = new Gates();
  const passed: string[] = [];
  gates.wait('g', () => passed.push('first'));
  gates.wait('g', () => passed.push('second'));
  gates.release('g');
  expect(passed).toEqual(['first']);
  gates.release('other', 5);
  expect(passed).toEqual(['first']);
  gates.release('g', 2);
  gates.wait('g', () => passed.push('third'));
  gates.wait('g', () => passed.push('fourth'));
  expect(passed).toEqual(['first', 'second', 'third']);
});

test('one who gave up uses no release', () => {
  const gates = new Gates();
  const passed: string[] = [];
  const giveUp = gates.wait('g', () => passed.push('gone'));
  gates.wait('g', () => passed.push('there'));
  giveUp();
  gates.release('g');
  expect(passed).toEqual(['there']);
});

test('tells when this many wait at the same time', () => {
  const gates = new Gates();
  let told = 0;
  gates.whenWaiting('g', 2, () => told++);
  gates.wait('g', () => {});
  gates.release('g');
  gates.wait('g', () => {});
  expect(told).toBe(0);
  gates.wait('g', () => {});
  expect(told).toBe(1);
  gates.whenWaiting('g', 2, () => told++);
  expect(told).toBe(2);
});

test('a cleared gate has neither releases nor anyone waiting', () => {
  const gates = new Gates();
  let passed = 0;
  gates.wait('g', () => passed++);
  gates.release('h');
  gates.clear();
  gates.release('g');
  gates.wait('h', () => passed++);
  expect(passed).toBe(0);
});
