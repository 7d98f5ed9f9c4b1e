import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { LIMITS } from '../limits.ts';

/** `auto`: one less than the number of cores. */
export type Workers = number | 'auto';

const MESSAGE = `must be "auto" or a whole number from 1 to ${LIMITS.workersMax}`;

const count = z.int(MESSAGE).min(1, MESSAGE).max(LIMITS.workersMax, MESSAGE);
export const workersSchema = z.union([z.literal('auto'), count], MESSAGE);

/** As a flag or a variable has it. */
export const workersTextSchema = z
  .string()
  .transform((text) => (/^\d{1,9}$/.test(text) ? Number(text) : text))
  .pipe(workersSchema);

/** More workers than one were asked for where they cannot share a port. */
export class WorkersRefused extends Error {
  override readonly name = 'WorkersRefused';
}

/** How many workers serve calls. Throws WorkersRefused. */
export async function workersFor(
  workers: Workers,
  canSharePort: () => Promise<boolean>,
  cores: number = availableParallelism(),
): Promise<number> {
  const wanted = workers === 'auto' ? Math.min(Math.max(cores - 1, 1), LIMITS.workersMax) : workers;
  if (wanted === 1 || (await canSharePort())) return wanted;
  if (workers === 'auto') return 1;
  throw new WorkersRefused(
    `Cannot use ${wanted} workers: on this system, or with Node ${process.versions.node}, only one thread can listen on a port. Set \`workers\` to 1, or use Linux with Node 24 or newer.`,
  );
}
