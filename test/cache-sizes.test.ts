import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../src/kit/secret.ts';
import { type Harness, simHost, startHarness } from './harness.ts';

const ASK = { model: 'sim-gpt', messages: [{ role: 'user' as const, content: 'hello' }] };

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ hosted: true, hosts: (sim) => [{ ...simHost(sim), key: new Secret('host-key') }] });
});
afterAll(() => harness.stop());

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

test('/metrics says what every cache holds and may hold, each by a name that docs/metrics.md explains', async () => {
  for (const { secret } of [await harness.mint(), await harness.mint()]) await harness.post(ASK, bearer(secret));
  // The management API, and with it its caches, is loaded by its first request.
  await harness.get('/manage/v1/session');
  const text = await (await fetch(`${harness.running.operationsUrl}/metrics`)).text();
  const figures = (metric: string) =>
    new Map(
      [...text.matchAll(RegExp(`^${metric}\\{cache="(\\w+)"\\} (\\S+)$`, 'gm'))].map(([, name, figure]) => [
        name!,
        Number(figure),
      ]),
    );
  const [entries, most] = [figures('tollgate_cache_entries'), figures('tollgate_cache_entries_max')];
  expect([...entries.keys()]).toEqual([...most.keys()]);
  expect([...entries].filter(([name, count]) => count > most.get(name)!)).toEqual([]);
  // This gateway has no limit of calls.
  expect([...most].filter(([, count]) => !Number.isFinite(count)).map(([name]) => name)).toEqual(['open_holds']);
  expect(entries.get('keys')).toBeGreaterThanOrEqual(2);
  expect(entries.get('writer_keys')).toBeGreaterThanOrEqual(2);
  expect(entries.get('frame_patterns')).toBeGreaterThan(0);
  const page = readFileSync(new URL('../docs/metrics.md', import.meta.url), 'utf8');
  const explained = [...page.matchAll(/^\| `(\w+)` \| [^|]+ \|$/gm)].map(([, name]) => name!);
  const onPostgres = [
    'shared_request_counts',
    'stored_holds',
    'stored_names',
    'stored_price_lists',
    'stored_price_texts',
  ];
  const elsewhere = ['sso_states', 'trace_spans', ...onPostgres];
  expect(explained.toSorted()).toEqual([...entries.keys(), ...elsewhere].toSorted());
});
