import { openSync, readSync } from 'node:fs';

/**
 * Loaded into a gateway process before anything else (`node --import`): its clock is off by the number of milliseconds
 * in the file that TOLLGATE_CLOCK_FILE names, which may change while it runs.
 */
const file = openSync(process.env.TOLLGATE_CLOCK_FILE ?? '', 'r');
const bytes = new Float64Array(1);
const now = Date.now.bind(Date);

Date.now = () => {
  readSync(file, bytes, 0, bytes.byteLength, 0);
  return now() + bytes[0]!;
};
