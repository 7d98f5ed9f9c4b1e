import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child, MEASURED_CORE, OTHER_CORE } from './child.ts';
import { HUB_CHUNKS, ROUTES } from './hub-traffic.ts';
import type { Slice, SliceResult } from './load.ts';

/** What a chunk costs the gateway, in microseconds of CPU: on the same wire and translated; one run, ratios within it. */

const ROUNDS = 3;
const SECONDS = 2;
const CONNECTIONS = 16;

async function main(): Promise<void> {
  process.stdout.write(
    `load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}, ${HUB_CHUNKS} chunks a stream\n`,
  );
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-hub-'));
  try {
    const upstream = await Child.ready<{ port: number }>(OTHER_CORE, 'hub-upstream.ts', {});
    const terms = { folder, upstreamPort: upstream.hello.port };
    const gateway = await Child.ready<{ port: number }>(MEASURED_CORE, 'hub-gateway.ts', terms);
    const load = await Child.ready(OTHER_CORE, 'load.ts', {});
    print(await measure(gateway.child, gateway.hello.port, load.child));
  } finally {
    await Child.stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(gateway: Child, port: number, load: Child): Promise<Map<string, number>> {
  const best = new Map<string, number>();
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { path, body }] of Object.entries(ROUTES)) {
      const slice: Slice = {
        port,
        path,
        headers: {},
        body: JSON.stringify(body),
        keys: ['none'],
        connections: CONNECTIONS,
        seconds: SECONDS,
      };
      const beforeMs = gateway.cpuMs();
      const { answered, failed, firstFailure } = await load.ask<SliceResult>(slice, 60_000);
      if (failed > 0 || answered === 0) throw new Error(`${name}: ${failed} calls failed: ${firstFailure}`);
      const microsPerChunk = ((gateway.cpuMs() - beforeMs) * 1000) / (answered * HUB_CHUNKS);
      // The first round only warms up.
      if (round > 0) best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, microsPerChunk));
    }
  }
  return best;
}

function print(best: ReadonlyMap<string, number>): void {
  const line = (name: string, base: string): void => {
    const micros = best.get(name)!;
    const ratio = (micros / best.get(base)!).toFixed(2);
    process.stdout.write(`${name.padEnd(20)} ${micros.toFixed(2).padStart(7)} µs a chunk   ${ratio} of ${base}\n`);
  };
  line('chat', 'chat');
  line('chat to messages', 'chat');
  line('chat to responses', 'chat');
  line('messages', 'messages');
  line('messages to chat', 'messages');
  line('responses', 'responses');
  line('responses to chat', 'responses');
}

await main();
