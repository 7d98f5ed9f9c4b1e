import { TRANSPORTS, type Transport } from '../src/config/config.ts';
import { readFlags, refuseFlag } from '../test/read-flags.ts';
import {
  type ClassFigures,
  type Figures,
  faultsOf,
  growthBytes,
  hostileCampaign,
  megabytes,
  type Report,
} from './http/campaign.ts';
import { readCount } from './read-count.ts';

/** Sends malformed and hostile requests by the hundred thousand over raw sockets, to each transport in turn. */

const PROGRESS_EVERY = 5_000;

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      requests: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      connections: { type: 'string', default: '24' },
      transport: { type: 'string', default: TRANSPORTS.join(',') },
    },
  });
  const terms = {
    requests: readCount(values.requests, 'requests'),
    seed: readCount(values.seed, 'seed'),
    connections: readCount(values.connections, 'connections'),
  };
  let faults = 0;
  for (const transport of readTransports(values.transport)) faults += await attack(transport, terms);
  return faults === 0 ? 0 : 1;
}

/** Resolves with the number of faults. */
async function attack(
  transport: Transport,
  terms: { readonly requests: number; readonly seed: number; readonly connections: number },
): Promise<number> {
  const { requests, seed } = terms;
  const startedMs = Date.now();
  const report = await hostileCampaign({
    ...terms,
    transport,
    warmUp: Math.min(5_000, Math.ceil(requests / 4)),
    onProgress: (done, figures) => sayProgress(done, requests, figures, startedMs),
  });
  process.stdout.write(
    `Over the ${transport} transport:\n${describe(report, requests, seed, Date.now() - startedMs)}\n`,
  );
  return faultsOf(report).length;
}

function readTransports(text: string): Transport[] {
  return text.split(',').map((name) => {
    const transport = TRANSPORTS.find((each) => each === name);
    if (transport === undefined) refuseFlag(`--transport must be one or more of ${TRANSPORTS.join(', ')}.`);
    return transport;
  });
}

function sayProgress(done: number, requests: number, { faults }: Figures, startedMs: number): void {
  if (done % PROGRESS_EVERY !== 0 && done !== requests) return;
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  process.stderr.write(`${done} of ${requests} requests, ${faults.length} faults, ${seconds} s\n`);
}

function describe(report: Report, requests: number, seed: number, tookMs: number): string {
  const faults = faultsOf(report);
  const rows = [...report.classes].map(([name, figures]) => row(name, figures));
  return [
    `${'hostile requests'.padEnd(48)}${'sent'.padStart(8)}${'silent'.padStart(8)}  answers`,
    ...rows,
    '',
    `${requests} requests, seed ${seed}, in ${Math.round(tookMs / 1000)} s; ${report.deliberate} turned away for load`,
    `in use after a collection: ${memory(report.warm)} warm, ${memory(report.end)} at the end, ${megabytes(growthBytes(report))} MB more`,
    `${report.end.receipts} receipts, ${report.end.openHolds} holds open, ${report.end.callsUnderWay} calls under way`,
    faults.length === 0 ? 'No crash, no fault of ours, no hold left, no memory lost.' : faults.join('\n'),
    '',
  ].join('\n');
}

function row(name: string, { sent, silent, statuses }: ClassFigures): string {
  const answers = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}×${count}`);
  return `${name.padEnd(48)}${String(sent).padStart(8)}${String(silent).padStart(8)}  ${answers.join(' ')}`;
}

function memory({ heapBytes, bufferBytes }: Report['warm']): string {
  return `${megabytes(heapBytes)} MB heap + ${megabytes(bufferBytes)} MB buffers`;
}

process.exitCode = await main();
