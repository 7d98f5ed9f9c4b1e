import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { MasterKeyError, readMasterKeys } from '../custody/master-keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import { FolderMoved } from './books.ts';
import { describeStartFailure } from './start-failure.ts';
import { WorkerFailed } from './workers/worker-thread.ts';

const LISTEN = { host: '127.0.0.1', port: 8080, operationsHost: '127.0.0.2', operationsPort: 9464, consolePort: 8081 };
const CONFIG = { hosted: true, console: true, listen: LISTEN };

let server: Server;
afterEach(() => void server?.close());

function listening(place: ListenOptions): Promise<Error | null> {
  return new Promise((resolve) => {
    const opened = createServer();
    opened.once('error', resolve);
    opened.listen(place, () => {
      server = opened;
      resolve(null);
    });
  });
}

/** As Node reports it. */
function systemError(fields: { code: string; syscall: string; port?: number; address?: string; hostname?: string }) {
  return Object.assign(new Error(`${fields.syscall} ${fields.code}`), fields);
}

test('a port that is taken is named with the setting that changes it', async () => {
  await listening({ host: '127.0.0.1', port: 0 });
  const { port } = server.address() as AddressInfo;
  const error = await listening({ host: '127.0.0.1', port });
  for (const [name, flag] of [
    ['port', '--port'],
    ['operationsPort', '--operations-port'],
    ['consolePort', '--console-port'],
  ] as const) {
    const message = `Port ${port} on 127.0.0.1 is in use. Stop the process that uses it, or choose another with ${flag}.`;
    const config = { ...CONFIG, listen: { ...LISTEN, [name]: port } };
    expect(describeStartFailure(error, config)).toEqual({ message, exitCode: 4 });
  }
});

test('an address of another machine is not reported as a bug', async () => {
  // An address for documentation, which no machine has.
  const host = '192.0.2.1';
  const error = await listening({ host, port: 0 });
  for (const [name, flag] of [
    ['host', '--host'],
    ['operationsHost', '--operations-host'],
  ] as const) {
    const failure = describeStartFailure(error, { ...CONFIG, listen: { ...LISTEN, [name]: host } });
    expect(failure).toEqual({
      message: expect.stringMatching(`^${host} is not an address .* ${flag}\\.$`),
      exitCode: 4,
    });
  }
});

test('a port that this user may not use, and a name that leads nowhere, are not reported as bugs', () => {
  const refused = systemError({ code: 'EACCES', syscall: 'listen', port: 80, address: '127.0.0.1' });
  expect(describeStartFailure(refused, CONFIG)).toEqual({
    message: expect.stringMatching(/^Port 80 on 127\.0\.0\.1 is not open to this user .* --port, or /),
    exitCode: 4,
  });
  const unknown = systemError({ code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'nowhere.invalid' });
  expect(describeStartFailure(unknown, CONFIG)).toEqual({
    message: expect.stringMatching(/^The name nowhere\.invalid .* --host\.$/),
    exitCode: 4,
  });
});

test('what one worker cannot open is explained as if the first one could not', () => {
  // Errors of another thread arrive without their class, but with their name.
  const cause = Object.assign(new Error('Too many connections.'), { name: new StoreUnavailable().name });
  const failed = new WorkerFailed('Worker 2 failed: Too many connections.', { cause });
  expect(describeStartFailure(failed, CONFIG)).toEqual({ message: 'Too many connections.', exitCode: 3 });
});

test('errors that explain themselves have their exit codes, and others stay bugs', () => {
  expect(describeStartFailure(new FolderMoved('moved'), CONFIG)).toEqual({ message: 'moved', exitCode: 5 });
  expect(describeStartFailure(new MasterKeyError('none'), CONFIG)).toEqual({ message: 'none', exitCode: 2 });
  const opening = systemError({ code: 'EACCES', syscall: 'open' });
  for (const bug of [new TypeError('x'), opening, new WorkerFailed('Worker 2 ended.'), 'text'])
    expect(describeStartFailure(bug, CONFIG)).toBeNull();
});

test('a command for the master key that fails can be tried again with the same settings', async () => {
  const read = async () => readMasterKeys({ kind: 'command', command: 'exit 7', source: 'the vault' });
  const failure = describeStartFailure(await read().catch((error: unknown) => error), CONFIG);
  expect(failure).toEqual({ message: 'The command of the vault ended with 7.', exitCode: 3 });
});
