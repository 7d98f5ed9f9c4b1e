import { closeSync, openSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { stopSignal } from './signals.ts';

type Listener = (signal: string) => void;

const listeners = new Map<string, Listener>();
const exits: unknown[] = [];
const clock = new ManualClock(0);

beforeEach(() => {
  listeners.clear();
  exits.length = 0;
  vi.spyOn(process, 'on').mockImplementation((name, listener) => {
    listeners.set(String(name), listener as Listener);
    return process;
  });
  vi.spyOn(process, 'exit').mockImplementation((code) => exits.push(code) as never);
});
afterEach(() => vi.restoreAllMocks());

const send = (signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): void => listeners.get(signal)!(signal);

test('the first signal stops, a second one at the same time is part of it, and a later one ends the process', async () => {
  const stopped = stopSignal({ clock, followsParent: false, reload: () => {} });
  send('SIGINT');
  send('SIGINT');
  expect(await stopped).toBe(130);
  clock.advance(999);
  send('SIGTERM');
  expect(exits).toEqual([]);
  clock.advance(2);
  send('SIGTERM');
  expect(exits).toEqual([143]);
});

test('a gateway that npm started stops when its parent has ended', async () => {
  const parent = vi.spyOn(process, 'ppid', 'get').mockReturnValue(77);
  let isStopped = false;
  const stopped = stopSignal({ clock, followsParent: true, reload: () => {} }).then(() => (isStopped = true));
  clock.advance(10_000);
  await Promise.resolve();
  expect(isStopped).toBe(false);
  parent.mockReturnValue(1);
  clock.advance(250);
  await stopped;
});

test('any other gateway outlives its parent', () => {
  const parent = vi.spyOn(process, 'ppid', 'get');
  void stopSignal({ clock, followsParent: false, reload: () => {} });
  clock.advance(10_000);
  expect(parent).not.toHaveBeenCalled();
});

test('a SIGHUP from before this code was loaded reloads, and the launcher handles no later one', () => {
  const reload = vi.fn();
  const take = vi.fn(() => true);
  void stopSignal({ clock, followsParent: false, hangups: { terminalFds: [], take }, reload });
  expect([take, reload].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});

test('SIGHUP stops if a terminal from before this code was loaded is gone', async () => {
  const reload = vi.fn();
  const file = openSync(import.meta.filename, 'r');
  const stopped = stopSignal({
    clock,
    followsParent: false,
    hangups: { terminalFds: [file], take: () => false },
    reload,
  });
  send('SIGHUP');
  expect(await stopped).toBe(129);
  expect(reload).not.toHaveBeenCalled();
  closeSync(file);
});

test('SIGHUP reloads, unless the terminal is gone', () => {
  const reload = vi.fn();
  void stopSignal({ clock, followsParent: false, reload });
  send('SIGHUP');
  expect(reload).toHaveBeenCalledOnce();
});
