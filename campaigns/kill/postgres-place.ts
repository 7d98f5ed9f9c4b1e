import { systemClock } from '../../src/kit/clock.ts';
import { IdSource } from '../../src/kit/ids.ts';
import { MANAGE_ROUTES, type ManageRoute } from '../../src/manage/routes.ts';
import { commandLine } from '../../src/operator/actor.ts';
import { runVerb } from '../../src/operator/operator.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { until } from '../../test/until.ts';
import type { RunVerb } from '../gateway-process.ts';
import type { Place } from './world.ts';

/** An instance number that no gateway of a test reaches. */
const INSTANCE = 1023;

/** A ledger in that database. Verbs run in the gateway, through the management API, so that they die with it. */
export async function postgresPlace(url: string): Promise<Place> {
  const store = await openPostgresStore({ url, clock: systemClock });
  try {
    const ids = new IdSource(systemClock, INSTANCE);
    const services = { store, ids, clock: systemClock, actor: commandLine(), publicUrl: null, moved: null };
    const terms = { name: 'test', expires_at: Math.floor(systemClock.nowMs() / 1000) + 86_400 };
    const { secret } = (await runVerb(services as never, 'managementkeys.mint', terms)) as { secret: string };
    return { settings: { store: url }, operator: (at) => overHttp(at, secret) };
  } finally {
    await store.close();
  }
}

function overHttp(url: string, secret: string): RunVerb {
  const send = async ({ method, path }: Pick<ManageRoute, 'method' | 'path'>, input: object): Promise<unknown> => {
    const rest = new Map(Object.entries(input));
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => take(rest, name));
    const response = await fetch(`${url}/manage/v1${filled}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(method !== 'GET' && { body: JSON.stringify(Object.fromEntries(rest)) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  return async (verb, input = {}) => {
    if (verb === 'ledger.verify') return verified(send);
    return send(routeOf(verb === 'accounts.list' ? 'own.accounts' : verb), input);
  };
}

/** The server verifies in a task, which is polled until it has ended. */
async function verified(send: (route: ManageRoute, input: object) => Promise<unknown>): Promise<unknown> {
  await send(routeOf('system.verify'), {});
  let report: unknown = null;
  await until(async () => {
    ({ report } = (await send(routeOf('system.verification'), {})) as { report: unknown });
    return report !== null;
  }, 'the ledger is verified');
  return report;
}

function take(members: Map<string, unknown>, name: string): string {
  const value = String(members.get(name));
  members.delete(name);
  return encodeURIComponent(value);
}

function routeOf(verb: string): ManageRoute {
  const route = MANAGE_ROUTES.find((each) => each.verb === verb);
  if (route === undefined) throw new Error(`No route runs ${verb}.`);
  return route;
}
