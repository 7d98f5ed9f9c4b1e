import { readFileSync } from 'node:fs';

/** The most files and sockets that this process may have open; null where the system does not tell. */
export function descriptorLimit(read: () => string = readLimits): number | null {
  let text: string;
  try {
    text = read();
  } catch {
    return null;
  }
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(text)?.[1];
  if (soft === undefined) return null;
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft);
}

/** Linux only. Node raises the soft limit to the hard one when it starts. */
function readLimits(): string {
  return readFileSync('/proc/self/limits', 'utf8');
}
