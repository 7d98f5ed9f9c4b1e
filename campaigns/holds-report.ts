import { writeReport } from './holds/report.ts';

process.exitCode = await writeReport((line) => process.stdout.write(`${line}\n`));
