import { openSync, readSync } from 'node:fs';

/**
 * Loaded into a gateway process before anything else (`node --import`): its clock is wrong by as many milliseconds as the
 * file in TOLLGATE_CLOCK_FILE says, which may change while it runs.
 */
const file = openSync(process.env.TOLLGATE_CLOCK_FILE ?? '', 'r');
const bytes = new Float64Array(1);
const now = Date.now.bind(Date);

Date.now = () => {
  readSync(file, bytes, 0, bytes.byteLength, 0);
  return now() + bytes[0]!;
};
