import { execFileSync } from 'node:child_process';
import { TRANSPORTS } from '../src/config/config.ts';
import { readFlags } from '../test/read-flags.ts';
import { flood } from './sockets/flood.ts';

/** Opens more connections than the gateway may have: it lives, and running calls finish and are charged. */

/** Descriptors that this process needs besides the sockets of the flood. */
const OWN_DESCRIPTORS = 500;

/** What the system allows a process here; both numbers are lowered to it. */
function hardLimit(): number {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim();
  return limit === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(limit);
}

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      descriptors: { type: 'string', default: '4096' },
      sockets: { type: 'string' },
    },
  });
  const hard = hardLimit();
  const descriptors = Math.min(Number(values.descriptors), hard);
  // Callers get about half of the descriptors, so even fewer sockets than descriptors are too many.
  const wanted = values.sockets === undefined ? Math.ceil(descriptors * 1.05) : Number(values.sockets);
  const sockets = Math.min(wanted, hard - OWN_DESCRIPTORS);
  process.stdout.write(`ulimit -Hn is ${hard}: ${descriptors} descriptors, ${sockets} sockets\n`);
  let isFine = true;
  for (const transport of TRANSPORTS) {
    const figures = await flood({ descriptors, sockets, transport });
    process.stdout.write(`${JSON.stringify({ transport, descriptors, sockets, ...figures })}\n`);
    isFine &&=
      figures.isAlive &&
      figures.spentNanousd > 0 &&
      figures.streams.every((ended) => ended === 'complete settled') &&
      figures.callsMeanwhile.every((status) => status === 200);
  }
  return isFine ? 0 : 1;
}

process.exitCode = await main();
