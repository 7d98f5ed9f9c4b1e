import { parseArgs } from 'node:util';
import { startSim } from './sim.ts';
import type { Sim } from './sim-handle.ts';

/** A simulator that runs for days does not need to remember as much as one in a test. */
const CALLS_KEPT = 1_000;

/** The simulator as a process. Prints one JSON line once it listens; ends with its parent, or on SIGTERM. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new RangeError('--port must be a number from 0 to 65535.');
  const sim = await startSim({ port, callsKept: CALLS_KEPT });
  endWith(sim);
  // A parent that was stopped while it started does not read the line.
  process.stdout.once('error', () => process.exit(0));
  process.stdout.write(`${JSON.stringify({ url: sim.url })}\n`);
}

function endWith(sim: Sim): void {
  const end = () => {
    sim.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('disconnect', end);
  process.once('SIGTERM', end);
  // Ctrl-C reaches every process of a terminal, but a gateway may still need answers for the calls that it lets finish.
  process.on('SIGINT', () => {
    if (!process.connected) end();
  });
}

main().catch((error: unknown) => {
  process.stderr.write(
    `The simulated upstream did not start: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
});
