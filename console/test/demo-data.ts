import { type Harness, type HarnessOptions, startHarness } from '../../test/harness.ts';
import { ManageClient } from './manage-client.ts';
import { ShiftedClock, systemPause } from './shifted-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 30;
const REFUSALS = 12;

interface DemoKey {
  readonly id: string;
  readonly secret: string;
  readonly name: string;
}

export interface Demo {
  readonly harness: Harness;
  readonly manage: ManageClient;
  readonly account: string;
  readonly keys: readonly DemoKey[];
}

const KEYS = [
  { name: 'support-bot', spend_cap_nanousd: 5_000_000_000, window: 'week', note: 'Answers tickets' },
  { name: 'anna-laptop', spend_cap_nanousd: 250_000_000, window: 'day' },
  { name: 'search-index', spend_cap_nanousd: 5_000_000_000, window: 'month' },
  { name: 'ci-nightly', spend_cap_nanousd: 10_000_000, window: 'day', models: ['sim-gpt-mini'] },
] as const;
const MODELS = ['sim-gpt', 'sim-claude', 'sim-gpt-mini', 'sim-responses'];

/** A gateway as it looks after a month of use: three keys at different caps, several models, refused calls. */
export async function startDemo(options: Pick<HarnessOptions, 'world'> = {}): Promise<Demo> {
  const clock = new ShiftedClock(DAYS * DAY_MS);
  const harness = await startHarness({ clock, ...options });
  const manage = new ManageClient(harness);
  const account = await manage.post('/accounts', { name: 'acme' });
  await manage.post(`/accounts/${account.id}/credits`, { amount_nanousd: '186910000000', reference: 'invoice-1001' });
  const keys: DemoKey[] = [];
  for (const terms of KEYS) {
    const { id, secret, name } = await manage.post('/keys', { account: account.id, ...terms });
    keys.push({ id, secret, name });
  }
  for (let day = DAYS; day >= 0; day -= 1) {
    clock.moveTo(day * DAY_MS);
    await oneDay(harness, keys, day);
  }
  await refusals(harness, keys);
  await lowerCap(manage, keys[0]!.id, 86n);
  await lowerCap(manage, keys[1]!.id, 41n);
  await harness.settled();
  // Refused calls are written a moment later.
  while ((await manage.get(`/refusals?account=${account.id}`)).data.length < REFUSALS) await systemPause(200);
  return { harness, manage, account: account.id, keys };
}

/** More calls on working days, the same at every run. */
async function oneDay(harness: Harness, keys: readonly DemoKey[], day: number): Promise<void> {
  const isWeekend = day % 7 === 1 || day % 7 === 2;
  const calls = isWeekend ? 3 : 6 + ((day * 7) % 5);
  for (let at = 0; at < calls; at += 1) {
    const model = MODELS[(at * at + day) % MODELS.length]!;
    const key = keys[(at + day) % 3]!;
    const body = {
      model,
      max_tokens: 300,
      stream: at % 2 === 0,
      messages: [
        {
          role: 'user',
          content: `Summarize ticket ${day}-${at}. ${'The printer is on fire. '.repeat(700 + at * 400)}`,
        },
      ],
      metadata: { team: at % 2 === 0 ? 'support' : 'search' },
    };
    const response = await harness.post(body, { authorization: `Bearer ${key.secret}` });
    await response.text();
  }
}

/** Leaves a key with this many percent of its cap spent. */
async function lowerCap(manage: ManageClient, key: string, percent: bigint): Promise<void> {
  const { spent_nanousd } = await manage.get(`/keys/${key}`);
  await manage.patch(`/keys/${key}`, { spend_cap_nanousd: Number((BigInt(spent_nanousd) * 100n) / percent) });
}

async function refusals(harness: Harness, keys: readonly DemoKey[]): Promise<void> {
  const nightly = keys.find(({ name }) => name === 'ci-nightly')!;
  const laptop = keys.find(({ name }) => name === 'anna-laptop')!;
  const ask = (model: string, tokens: number) => ({
    model,
    max_tokens: tokens,
    messages: [{ role: 'user', content: 'Run the nightly evaluation. '.repeat(250) }],
  });
  for (let at = 0; at < 30; at += 1)
    await (await harness.post(ask('sim-gpt-mini', 600), { authorization: `Bearer ${nightly.secret}` })).text();
  for (let at = 0; at < 9; at += 1)
    await (await harness.post(ask('sim-gpt-mini', 16_000), { authorization: `Bearer ${nightly.secret}` })).text();
  await (await harness.post(ask('sim-claude', 64), { authorization: `Bearer ${nightly.secret}` })).text();
  for (let at = 0; at < 2; at += 1)
    await (await harness.post(ask('no-such-model', 64), { authorization: `Bearer ${laptop.secret}` })).text();
}
