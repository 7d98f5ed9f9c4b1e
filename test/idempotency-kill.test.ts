import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, type Key, MODEL, type World } from '../campaigns/kill/world.ts';

/** The real program, killed without warning while calls under an Idempotency-Key are finished, running and waiting. */

const BODY = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 };

let world: World;
let caller: Key;

beforeAll(async () => {
  world = await createWorld();
  caller = world.keys[0]!;
});
afterAll(() => world.end());

interface Told {
  readonly status: number;
  readonly code: string | null;
  readonly replayed: boolean;
  readonly text: string;
  readonly message: string;
}

async function ask(key: string, body: object = BODY): Promise<Told> {
  const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.secret}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const error =
    response.status === 200 ? null : (JSON.parse(text) as { error: { code: string; message: string } }).error;
  const replayed = response.headers.get('idempotency-replayed') === 'true';
  return { status: response.status, code: error?.code ?? null, message: error?.message ?? '', replayed, text };
}

async function spentNanousd(): Promise<bigint> {
  const url = `${world.gateway.url}/v1/balance`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${caller.secret}` } });
  return BigInt(((await response.json()) as { spent_nanousd: number }).spent_nanousd);
}

describe('kill -9', () => {
  let finished: Told;
  let spentBefore: bigint;

  beforeAll(async () => {
    finished = await ask('finished');
    await ask('streamed', { ...BODY, stream: true });
    spentBefore = await spentNanousd();
    world.sim.script({ gateHead: 'never' });
    const running = ask('running').catch(() => null);
    const streaming = ask('streaming', { ...BODY, stream: true }).catch(() => null);
    await world.sim.waitForGate('never', 2);
    world.gateway.kill();
    expect([await running, await streaming]).toEqual([null, null]);
    await world.gateway.ended;
    world.sim.reset();
    await world.restart();
  });

  test('leaves a finished answer to be given again, sealed under a key that outlived the process', async () => {
    expect(await ask('finished')).toEqual({ ...finished, replayed: true });
  });

  test('leaves a finished stream finished', async () => {
    expect(await ask('streamed', { ...BODY, stream: true })).toMatchObject({
      status: 409,
      code: 'idempotency_finished',
    });
  });

  test.each([
    ['running', BODY],
    ['streaming', { ...BODY, stream: true }],
  ])('leaves the outcome of a %s call unknown, uncharged, and never runs it again', async (key, body) => {
    const told = await ask(key, body);
    expect([told.status, told.code]).toEqual([409, 'idempotency_outcome_unknown']);
    expect(told.message).toContain('Use a new key');
    expect(await ask(key, { ...body, max_tokens: 10 })).toMatchObject({ status: 422, code: 'idempotency_mismatch' });
  });

  test('charges nothing twice, and a new key works at once', async () => {
    expect(await spentNanousd()).toBe(spentBefore);
    expect(world.sim.received()).toBe(0);
    expect(await ask('another')).toMatchObject({ status: 200, replayed: false });
    expect(world.sim.received()).toBe(1);
    expect(await world.gateway.ask('ledger.verify')).toMatchObject({ violations: [] });
  });
});
