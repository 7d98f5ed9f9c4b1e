import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CDPSession, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import setup from './build-setup.ts';
import { startLocalGateway } from './gateway-process.ts';
import { systemPause } from './shifted-clock.ts';

const EVERY_MS = 10_000;
/** How much more the page may use at the end than when its list was full for the first time. */
const GROWTH_MAX = 1.15;
const BODY = JSON.stringify({
  model: 'sim-gpt-mini',
  max_tokens: 8,
  messages: [{ role: 'user', content: 'Say hello.' }],
});

/** Makes calls at a steady rate until it is stopped. */
class SteadyCalls {
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #timer: NodeJS.Timeout;
  readonly #startedMs = performance.now();
  #begun = 0;
  ended = 0;
  failed = 0;

  constructor(url: string, perSecond: number) {
    this.#url = new URL('/v1/chat/completions', url);
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - this.#startedMs) / 1000) * perSecond);
      for (; this.#begun < due; this.#begun++) this.#call();
    }, 20);
  }

  #call(): void {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(BODY) };
    const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
      response.resume();
      response.once('end', () => (response.statusCode === 200 ? this.ended++ : this.failed++));
    });
    sent.once('error', () => this.failed++);
    sent.end(BODY);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
  }
}

interface PageMemory {
  readonly heapMb: number;
  readonly nodes: number;
  readonly rows: number;
}

/** What the page uses once everything that nothing refers to is gone. */
async function memoryOf(page: Page, devtools: CDPSession): Promise<PageMemory> {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  const { nodes } = await devtools.send('Memory.getDOMCounters');
  const rows = await page.locator('[data-row]').count();
  return { heapMb: usedSize / 1e6, nodes, rows };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '60' }, rate: { type: 'string', default: '200' } },
  });
  await setup();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-live-'));
  const gateway = await startLocalGateway(folder);
  const browser = await launchBrowser();
  const calls = new SteadyCalls(gateway.url, Number(values.rate));
  const samples: PageMemory[] = [];
  try {
    const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
    await page.goto(`${gateway.url}/console/requests?live=1#token=${gateway.token}`);
    await page.locator('[data-row]').first().waitFor();
    const devtools = await page.context().newCDPSession(page);
    for (let elapsedMs = EVERY_MS; elapsedMs <= Number(values.seconds) * 1_000; elapsedMs += EVERY_MS) {
      await systemPause(EVERY_MS);
      const sample = await memoryOf(page, devtools);
      samples.push(sample);
      process.stdout.write(
        `after ${elapsedMs / 1000} s: ${calls.ended} calls ended, ${calls.failed} failed; heap ${sample.heapMb.toFixed(1)} MB, ${sample.nodes} nodes, ${sample.rows} rows\n`,
      );
    }
  } finally {
    calls.stop();
    await browser.close();
    await gateway.stop();
    rmSync(folder, { recursive: true });
  }
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || calls.ended === 0) throw new Error('Nothing was measured.');
  const growth = last.heapMb / first.heapMb;
  // How many rows there are depends on when the list was read again.
  const nodesMax = first.nodes * Math.max(1, last.rows / first.rows) * GROWTH_MAX;
  const isBounded = growth <= GROWTH_MAX && last.nodes <= nodesMax;
  process.stdout.write(`The heap at the end is ${growth.toFixed(2)} times that after ${EVERY_MS / 1000} s: `);
  process.stdout.write(isBounded ? 'it does not grow.\n' : 'it grows.\n');
  return isBounded ? 0 : 1;
}

process.exitCode = await main();
