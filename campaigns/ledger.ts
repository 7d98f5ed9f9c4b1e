import { startPostgres } from '../test/postgres-server.ts';
import { readFlags } from '../test/read-flags.ts';
import { ledgerCampaign } from './ledger/campaign.ts';
import { readCount } from './read-count.ts';

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      operations: { type: 'string', default: '1000000' },
      workers: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [operations, workers, seed] = (['operations', 'workers', 'seed'] as const).map((name) =>
    readCount(values[name], name),
  ) as [number, number, number];
  const server = await startPostgres();
  try {
    const startedMs = Date.now();
    const { faults, ...done } = await ledgerCampaign({ url: server.url(), operations, workers, seed });
    const seconds = (Date.now() - startedMs) / 1000;
    const lines = [
      ...[...done.outcomes].map(([kind, count]) => `${kind.padEnd(40)}${String(count).padStart(12)}`),
      `${done.operations} operations by ${workers} processes, seed ${seed}, in ${Math.round(seconds)} s`,
      `${done.audits} audits meanwhile; ${done.verified.receipts} receipts verified at the end`,
      faults.length === 0 ? 'No identity was violated, no check failed, the ledger is exact.' : faults.join('\n'),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await server.stop();
  }
}

process.exitCode = await main();
