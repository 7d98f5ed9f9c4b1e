import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresPlace } from '../campaigns/kill/postgres-place.ts';
import { createWorld, type Key, MODEL, type World } from '../campaigns/kill/world.ts';
import { freshSchema } from './postgres.ts';
import { until } from './until.ts';

/** The real program, killed without warning at each step of closing an account that has calls under way. */

const BODY = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 };
const CLIENTS = 8;

let world: World;

/** The status of one call and its error code; null if the process died during the call. */
async function call({ secret }: Key): Promise<{ status: number; code: string | null; message: string } | null> {
  try {
    const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(BODY),
    });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return { status: response.status, code: error?.code ?? null, message: error?.message ?? '' };
  } catch {
    return null;
  }
}

const close = (account: string) => world.gateway.ask('accounts.close', { account, wait_seconds: 60 });

/** Clients that call with the account's keys, one call after another, until one of their calls fails. */
function load(keys: readonly Key[]): Promise<unknown> {
  const client = async (at: number): Promise<void> => {
    for (let calls = 0; calls < 1_000; calls++) {
      if ((await call(keys[at % keys.length]!))?.status !== 200) return;
    }
  };
  return Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)));
}

/** What happens until the process is killed; the account's close is under way then, or about to be. */
const STEPS: Record<string, (account: string, keys: readonly Key[]) => Promise<unknown>> = {
  'before or after it is suspended, under load': async (account, keys) => {
    const clients = load(keys);
    await until(() => world.sim.received() >= 2 * CLIENTS, 'the clients make calls');
    const closing = close(account).catch(() => null);
    await call(keys[0]!);
    world.gateway.kill();
    return Promise.all([clients, closing]);
  },
  'while it waits for running calls': async (account, keys) => {
    world.sim.script({ gateHead: 'never' });
    const running = load(keys);
    await world.sim.waitForGate('never', CLIENTS);
    const closing = close(account).catch(() => null);
    await suspended(account);
    world.gateway.kill();
    return Promise.all([running, closing]);
  },
  'when its last call has ended, before or after the balance is paid out': async (account, keys) => {
    world.sim.script({ gateHead: 'barrier' });
    const running = load(keys);
    await world.sim.waitForGate('barrier', CLIENTS);
    const closing = close(account).catch(() => null);
    await suspended(account);
    world.sim.release('barrier', CLIENTS);
    await running;
    world.gateway.kill();
    return closing;
  },
};

/** Resolves once the operator sees that the account is suspended. */
function suspended(account: string): Promise<void> {
  return until(async () => {
    const { data } = (await world.gateway.ask('accounts.list')) as { data: { id: string; status: string }[] };
    return data.find(({ id }) => id === account)?.status === 'suspended';
  }, 'the account is suspended');
}

const LEDGERS: Record<string, () => Promise<World>> = {
  'the data folder': () => createWorld(),
  PostgreSQL: async () => createWorld(await postgresPlace(await freshSchema())),
};

describe.each(Object.entries(LEDGERS))('closing an account in %s, killed', (_place, create) => {
  beforeAll(async () => {
    world = await create();
  });
  afterAll(() => world.end());

  test.each(Object.keys(STEPS).map((step, at) => [step, at] as const))(
    '%s, goes on when it is run again',
    async (step, at) => {
      const account = [...world.creditsNanousd.keys()][at]!;
      const keys = world.keys.filter((key) => key.account === account);
      world.sim.reset();
      await STEPS[step]!(account, keys);
      await world.gateway.ended;
      world.sim.reset();
      await world.restart();
      expect(await close(account)).toMatchObject({ status: 'closed', balance_nanousd: 0, held_nanousd: 0 });
      expect(await close(account)).toMatchObject({ status: 'closed', paid_out_nanousd: 0 });
      expect(await call(keys[0]!)).toMatchObject({ status: 403, code: 'account_suspended' });
      expect((await call(keys[1]!))?.message).toContain('closed for good');
      // Each account was credited once and paid out once: nothing is lost, and nothing is paid out twice.
      const report = await world.gateway.ask('ledger.verify');
      expect(report).toMatchObject({ violations: [], open_holds: 0, credits: world.creditsNanousd.size + at + 1 });
    },
    60_000,
  );
});
