import { statfs } from 'node:fs/promises';
import { LIMITS } from '../../limits.ts';
import type { StoreHealth } from '../store.ts';

/** Calls are admitted only while there is room for their rows. */
export async function diskHealth(folder: string): Promise<StoreHealth> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= LIMITS.diskFreeBytesMin) return { ok: true, reason: null, mayAdmit: true };
  return { ok: true, reason: 'The disk is nearly full.', mayAdmit: false };
}
