import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

test('an account is shown with what is left to spend, which has no end for an unlimited one', async () => {
  await cli.run(['accounts', 'create', 'ada']);
  await cli.run(['accounts', 'credit', 'ada', '5']);
  await cli.run(['accounts', 'create', 'bob', '--unlimited']);
  expect((await cli.run(['accounts', 'show', 'ada'])).out).toMatch(/^available +\$5\.00$/m);
  expect((await cli.run(['accounts', 'show', 'bob'])).out).toMatch(/^available +unlimited$/m);
});
