import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { LIMITS } from '../limits.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

describe('a server that does not answer', () => {
  const nextRequest = () => once(cli.askedMeanwhile, 'request');

  test('is given up on after ten seconds, with its process and folder', async () => {
    await cli.startServer();
    cli.stopAnswering();
    const asked = nextRequest();
    const listing = cli.run(['accounts', 'list']);
    await asked;
    cli.clock.advance(LIMITS.operatorSilenceMs);
    const { code, err } = await listing;
    expect(code).toBe(EXIT.unreachable);
    expect(err).toContain(`process 4711, which has ${cli.folder} open, did not answer within 10 seconds.`);
  });

  test('leaves a credit in doubt, with the command that repeats it safely', async () => {
    await cli.startServer();
    cli.stopAnswering();
    const asked = nextRequest();
    const crediting = cli.run(['accounts', 'credit', 'ada', '5']);
    await asked;
    cli.clock.advance(LIMITS.operatorSilenceMs);
    expect((await crediting).err).toMatch(/Try: tollgate accounts credit ada 5\.00 --reference credit_\w+/);
  });
});
