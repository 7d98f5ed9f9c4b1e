import { NO_KEY } from './client.ts';

/** Lines of a file that change: `- old` and `+ new`, in order. Lines that stay are left out: they may hold secrets. */
export function changedLines(before: string, after: string): string[] {
  const old = linesOf(before);
  const next = linesOf(after);
  const kept = keptCounts(old, next);
  const changes: string[] = [];
  let [at, to] = [0, 0];
  while (at < old.length || to < next.length) {
    if (at < old.length && to < next.length && old[at] === next[to]) {
      at++;
      to++;
    } else if (to >= next.length || (at < old.length && kept(at + 1, to) >= kept(at, to + 1))) {
      changes.push(`- ${hideSecrets(old[at++]!)}`);
    } else {
      changes.push(`+ ${hideSecrets(next[to++]!)}`);
    }
  }
  return changes;
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** How many lines can be kept from here on, for every pair of places: the longest common subsequence. */
function keptCounts(old: readonly string[], next: readonly string[]): (at: number, to: number) => number {
  const width = next.length + 1;
  const counts = new Uint32Array((old.length + 1) * width);
  for (let at = old.length - 1; at >= 0; at--) {
    for (let to = next.length - 1; to >= 0; to--) {
      const longer = Math.max(counts[(at + 1) * width + to]!, counts[at * width + to + 1]!);
      counts[at * width + to] = old[at] === next[to] ? counts[(at + 1) * width + to + 1]! + 1 : longer;
    }
  }
  return (at, to) => counts[at * width + to] ?? 0;
}

const SECRET = /((?<!env_)(?:key|token|secret|password|authorization)["']?\s*[:=]\s*["']?)([^"'\s,][^"',]*)/gi;
/** What setup itself writes: no key, or where the client finds it. */
const NO_SECRET = new RegExp(`^(?:${NO_KEY}|\\$\\w+|\\$?\\{.*)$`);

/** A setting that is replaced or put back may hold somebody's key, as may the other settings on its line. */
function hideSecrets(line: string): string {
  return line.replace(SECRET, (found, name: string, value: string) => (NO_SECRET.test(value) ? found : `${name}***`));
}
