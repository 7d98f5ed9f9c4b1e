import { deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { ACCOUNT_PREFIX } from '../src/canonical/id-prefixes.ts';
import { formatId } from '../src/kit/ids.ts';
import { startHarness } from '../test/harness.ts';
import { malformedRequests, managedState, sendMalformed } from '../test/malformed-requests.ts';
import { readFlags } from '../test/read-flags.ts';

/** Malformed requests to every route of the management API: none may fail, and none may change anything. */

async function main(): Promise<number> {
  const { values } = readFlags({
    options: { requests: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
  });
  const harness = await startHarness();
  try {
    const { store } = harness.running.books;
    const token = readFileSync(join(harness.folder, 'console.token'), 'utf8').trim();
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const { accountId } = await harness.mint();
    const before = await managedState(store);
    const requests = malformedRequests(formatId(ACCOUNT_PREFIX, accountId));
    const statuses = new Map<number, number>();
    for (const request of fc.sample(requests, { numRuns: Number(values.requests), seed: Number(values.seed) })) {
      const status = await sendMalformed(harness.url, request, headers);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status >= 500) process.stdout.write(`${status} ${request.method} ${JSON.stringify(request.path)}\n`);
    }
    deepStrictEqual(await managedState(store), before, 'A malformed request changed something.');
    return report(statuses, values.seed);
  } finally {
    await harness.stop();
  }
}

function report(statuses: ReadonlyMap<number, number>, seed: string): number {
  const sorted = [...statuses].toSorted(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, times]) => sum + times, 0);
  const failed = sorted.filter(([status]) => status >= 500).reduce((sum, [, times]) => sum + times, 0);
  process.stdout.write(`seed ${seed}: ${total} requests, ${failed} failed, nothing was changed\n`);
  for (const [status, times] of sorted) process.stdout.write(`  ${status}: ${times}\n`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
