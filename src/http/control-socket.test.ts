import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openControlSocket } from './control-socket.ts';

let folder: string;
let umask: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-socket-'));
  umask = process.umask(0);
});
afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

test('creates the socket without access for other users, whatever the umask of the process', async () => {
  const path = join(folder, 'control.sock');
  const opening = openControlSocket(path, () => Promise.resolve({ status: 200, body: '{}' }));
  // Nothing has been awaited: the socket has only just been made.
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const server = await opening;
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(process.umask()).toBe(0);
  await new Promise((closed) => server.close(closed));
});

test('restores the umask when the socket cannot be created', async () => {
  const nowhere = join(folder, 'missing', 'control.sock');
  await expect(openControlSocket(nowhere, () => Promise.resolve({ status: 200, body: '' }))).rejects.toThrow();
  expect(process.umask()).toBe(0);
});

test('outlives connections that cannot be accepted, however many', async () => {
  const server = await openControlSocket(join(folder, 'control.sock'), async () => ({ status: 200, body: '{}' }));
  for (let lost = 0; lost < 3; lost++) server.emit('error', new Error('accept EMFILE'));
  expect(server.listening).toBe(true);
  await new Promise((closed) => server.close(closed));
});
