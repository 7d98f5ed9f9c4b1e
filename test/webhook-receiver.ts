import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the standardwebhooks package verified; absent if it refused. */
  readonly event?: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> };
  readonly refused?: string;
}

/** A receiver of webhooks that runs in a process of its own. */
export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Changes its secret, or what it answers; resolves when that is in force. */
  set(settings: { secret?: string; status?: number; location?: string }): Promise<void>;
  /** Resolves when it has received this many in all. */
  arrived(count: number): Promise<void>;
  stop(): Promise<void>;
}

interface Line {
  readonly port?: number;
  readonly received?: Received;
}

export async function startReceiver(): Promise<Receiver> {
  const file = join(import.meta.dirname, 'webhook-receiver-process.ts');
  const child = spawn(process.execPath, ['--no-warnings', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const received: Received[] = [];
  const others: Line[] = [];
  let waiting: (() => void)[] = [];
  const nextWord = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    if (line.received !== undefined) received.push(line.received);
    else others.push(line);
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  });
  const nextLine = async (): Promise<Line> => {
    while (others.length === 0) await nextWord();
    return others.shift()!;
  };
  const { port } = await nextLine();
  return {
    url: `http://127.0.0.1:${port}/in`,
    received,
    set: async (settings) => {
      child.stdin.write(`${JSON.stringify(settings)}\n`);
      await nextLine();
    },
    arrived: async (count) => {
      while (received.length < count) await nextWord();
    },
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
