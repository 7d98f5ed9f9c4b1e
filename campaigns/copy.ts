import { startPostgres } from '../test/postgres-server.ts';
import { readFlags, refuseFlag } from '../test/read-flags.ts';
import { copyCampaign } from './copy/campaign.ts';

async function main(): Promise<number> {
  const { values } = readFlags({ options: { receipts: { type: 'string', default: '100000' } } });
  if (!/^\d{4,7}$/.test(values.receipts)) refuseFlag('--receipts must be a whole number from 1000.');
  const given = process.env.TOLLGATE_TEST_POSTGRES;
  const server = given === undefined ? await startPostgres() : null;
  try {
    const { callsAtKill, secondMs, answer, receipts, differences } = await copyCampaign({
      receipts: Number(values.receipts),
      url: given ?? server!.url(),
      onStep: (words) => void process.stderr.write(`${words}\n`),
    });
    const isRight = answer.ok && answer.start === 'resumed' && differences.length === 0;
    const figures = { receipts, callsAtKill, secondMs: Math.round(secondMs), ...answer };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    process.stdout.write(isRight ? 'Both stores answer the same.\n' : `They differ: ${differences.join(', ')}\n`);
    return isRight ? 0 : 1;
  } finally {
    await server?.stop();
  }
}

process.exitCode = await main();
