import { isatty } from 'node:tty';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { EarlyHangups } from '../src/main/signals.ts';

vi.mock('node:tty', () => ({ isatty: vi.fn() }));

/** The launcher is JavaScript without types. */
const LAUNCHER = '../bin/early-hangups.js';
const { rememberHangups } = (await import(LAUNCHER)) as { rememberHangups(): EarlyHangups };

const others = process.listeners('SIGHUP');

beforeEach(() => {
  process.removeAllListeners('SIGHUP');
});
afterEach(() => {
  process.removeAllListeners('SIGHUP');
  for (const other of others) process.on('SIGHUP', other);
  vi.restoreAllMocks();
});

function terminal(isThere: boolean): void {
  vi.mocked(isatty).mockReturnValue(isThere);
}

test('a SIGHUP on a terminal, or without one, is a reload for the gateway to make', () => {
  for (const isThere of [true, false]) {
    terminal(isThere);
    const hangups = rememberHangups();
    process.emit('SIGHUP', 'SIGHUP');
    expect(hangups.take()).toBe(true);
    expect(process.listenerCount('SIGHUP')).toBe(0);
  }
});

test('nothing is reloaded without a SIGHUP', () => {
  terminal(true);
  expect(rememberHangups().take()).toBe(false);
});

test('a SIGHUP because the terminal is gone ends the process as Node would', () => {
  terminal(true);
  const hangups = rememberHangups();
  terminal(false);
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  process.emit('SIGHUP', 'SIGHUP');
  expect(kill).toHaveBeenCalledExactlyOnceWith(process.pid, 'SIGHUP');
  expect(process.listenerCount('SIGHUP')).toBe(0);
  expect(hangups.take()).toBe(false);
});
