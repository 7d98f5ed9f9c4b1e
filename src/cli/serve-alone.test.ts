import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';

const loaded = vi.hoisted(() => ({ otherCommands: false }));
vi.mock('./all-commands.ts', async (importOriginal) => {
  loaded.otherCommands = true;
  return importOriginal();
});

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

test('starts the gateway without loading the other commands, which would stay in its memory', async () => {
  expect(await cli.run(['serve'])).toMatchObject({ code: 0, err: '' });
  expect(await cli.run(['--port', '9'])).toMatchObject({ code: 0, err: '' });
  expect(cli.served).toHaveLength(2);
  expect(loaded.otherCommands).toBe(false);
  await cli.run(['--help']);
  expect(loaded.otherCommands).toBe(true);
});
