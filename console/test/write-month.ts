import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fillMonth } from './month-store.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { receipts: { type: 'string', default: '1000000' } },
});
const [folder] = positionals;
const receipts = Number(values.receipts);
if (folder === undefined || existsSync(folder) || !Number.isSafeInteger(receipts) || receipts < 1) {
  process.stderr.write('Usage: npm run console:month -- FOLDER [--receipts 1000000]. The folder must not exist yet.\n');
  process.exit(2);
}
await fillMonth(folder, receipts, (words) => process.stdout.write(`${words}\n`));
process.stdout.write(`Open it with: npm start -- --data ${folder}\n`);
