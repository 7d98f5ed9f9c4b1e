import { statfs } from 'node:fs/promises';

/** Free space on the disk of a folder; null if the system does not say, or if there is no such folder. */
export async function freeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}
