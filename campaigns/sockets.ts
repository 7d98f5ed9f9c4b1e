import { parseArgs } from 'node:util';
import { TRANSPORTS } from '../src/config/config.ts';
import { flood } from './sockets/flood.ts';

/** Opens more connections than the gateway has file descriptors: it lives, and running calls end and are charged. */

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      descriptors: { type: 'string', default: '4096' },
      sockets: { type: 'string', default: '4300' },
    },
  });
  const terms = { descriptors: Number(values.descriptors), sockets: Number(values.sockets) };
  let isFine = true;
  for (const transport of TRANSPORTS) {
    const figures = await flood({ ...terms, transport });
    process.stdout.write(`${JSON.stringify({ transport, ...terms, ...figures })}\n`);
    isFine &&=
      figures.isAlive &&
      figures.spentNanousd > 0 &&
      figures.streams.every((ended) => ended === 'complete settled') &&
      figures.callsMeanwhile.every((status) => status === 200);
  }
  return isFine ? 0 : 1;
}

process.exitCode = await main();
