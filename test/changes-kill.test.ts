import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, type Key, MODEL, type World } from '../campaigns/kill/world.ts';

/** The real program, killed without warning while a key is rotated, a receipt refunded and money credited, under load. */

const BODY = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 };
const CALLERS = 6;
/** Far more calls than one process answers before it is killed. */
const CALLS_MAX = 5_000;

/** When the process is killed: after this many calls since the changes were sent, or when all changes were answered. */
const MOMENTS = [0, 1, 3, 6, 'answered'] as const;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.end());

async function call(secret: string): Promise<Response> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const url = `${world.gateway.url}/v1/chat/completions`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(BODY) });
  await response.text();
  return response;
}

/** Calls with every secret that is known, until the process is gone. Returns what was not answered with 200. */
async function loadUntilKilled(secrets: readonly string[], onAnswer: () => void): Promise<number[]> {
  const refused: number[] = [];
  const caller = async (number: number): Promise<void> => {
    for (let at = 0; at < CALLS_MAX; at++) {
      const response = await call(secrets[(number + at) % secrets.length]!).catch(() => null);
      if (response === null) return;
      if (response.status !== 200) refused.push(response.status);
      onAnswer();
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
  return refused;
}

interface Life {
  readonly refused: readonly number[];
  /** The new secret, if the request was answered. */
  readonly secret: string | null;
}

/** Sends the changes while callers call, and kills the process at that moment. */
async function changeAndKill(key: Key, moment: (typeof MOMENTS)[number], changes: Changes): Promise<Life> {
  const { gateway } = world;
  const secrets = [key.secret];
  let answered = 0;
  let sentAt = Number.POSITIVE_INFINITY;
  const load = loadUntilKilled(secrets, () => {
    answered++;
    if (typeof moment === 'number' && answered - sentAt >= moment) gateway.kill();
  });
  await call(key.secret);
  sentAt = answered;
  const rotated = gateway.ask('keys.rotate', { key: key.id, grace_seconds: 3600 }).then(
    (answer) => (answer as { secret: string }).secret,
    () => null,
  );
  void rotated.then((secret) => secret !== null && secrets.push(secret));
  const others = [gateway.ask('receipts.refund', changes.refund), gateway.ask('accounts.credit', changes.credit)];
  const all = Promise.allSettled([rotated, ...others]);
  if (moment === 0) gateway.kill();
  if (moment === 'answered') void all.then(() => call(key.secret)).then(() => gateway.kill());
  const refused = await load;
  await Promise.all([gateway.ended, all]);
  return { refused, secret: await rotated };
}

interface Changes {
  readonly refund: { receipt: string; reference: string };
  readonly credit: { account: string; amount_nanousd: number; reference: string };
}

async function auditOf(action: string, subject: string): Promise<unknown[]> {
  return ((await world.gateway.ask('audit.list', { action, subject })) as { data: unknown[] }).data;
}

describe.each(MOMENTS)('killed at %s', (moment) => {
  test('no caller was ever refused, both secrets work afterwards, and every change is made once', async () => {
    const key = world.keys[MOMENTS.indexOf(moment)]!;
    const paid = await call(key.secret);
    const receipt = paid.headers.get('x-gateway-request-id')!;
    const changes = {
      refund: { receipt, reference: `refund-${moment}` },
      credit: { account: key.account, amount_nanousd: 7, reference: `credit-${moment}` },
    };
    const creditsBefore = (await auditOf('account.credit', key.account)).length;
    const { refused, secret } = await changeAndKill(key, moment, changes);
    await world.restart();

    expect(refused).toEqual([]);
    expect((await call(key.secret)).status).toBe(200);
    if (secret !== null) expect((await call(secret)).status).toBe(200);
    if (moment === 'answered') expect(secret).not.toBeNull();
    const shown = (await world.gateway.ask('keys.show', { key: key.id })) as { old_secret_expires_at: number | null };
    const rotations = await auditOf('key.rotate', key.id);
    expect(rotations).toHaveLength(shown.old_secret_expires_at === null ? 0 : 1);

    const refund = (await world.gateway.ask('receipts.refund', changes.refund)) as Record<string, number>;
    expect(refund.refunded_nanousd).toBe(refund.cost_nanousd);
    await world.gateway.ask('accounts.credit', changes.credit);
    expect(await auditOf('receipt.refund', receipt)).toHaveLength(1);
    expect(await auditOf('account.credit', key.account)).toHaveLength(creditsBefore + 1);
    expect(await world.gateway.ask('ledger.verify')).toMatchObject({ violations: [], open_holds: 0 });
  });
});
