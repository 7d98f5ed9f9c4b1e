import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page, Request } from 'playwright-core';
import { launchBrowser } from './browser.ts';
import setup from './build-setup.ts';
import { type LocalGateway, startLocalGateway } from './gateway-process.ts';
import { fillMonth } from './month-store.ts';

const LOAD_MS_MAX = 2_000;
const FILTER_MS_MAX = 500;
const READY_MS_MAX = 1_500;
const RUNS = 3;
const ACCOUNT = 'acme';

interface Action {
  readonly name: string;
  run(page: Page): Promise<unknown>;
}

interface Subject {
  readonly name: string;
  readonly path: string;
  /** What is visible once the page can be used. */
  readonly ready: string;
  readonly filters: readonly Action[];
}

const choose = (label: string, value: string): Action => ({
  name: `${label}: ${value}`,
  run: (page) => page.getByLabel(label, { exact: true }).selectOption({ label: value }),
});
const press = (name: string): Action => ({
  name,
  run: (page) => page.getByRole('button', { name, exact: true }).first().click(),
});

const SUBJECTS: readonly Subject[] = [
  {
    name: 'Overview',
    path: `/?account=${ACCOUNT}`,
    ready: 'text=Largest spenders',
    filters: [press('7 d'), press('90 d'), press('Key'), press('24 h')],
  },
  { name: 'Overview, all accounts', path: '/', ready: 'text=Largest spenders', filters: [press('Account')] },
  {
    name: 'Usage',
    path: `/usage?account=${ACCOUNT}`,
    ready: 'text=Total',
    filters: [
      choose('By', 'Key'),
      choose('Metric', 'Output tokens'),
      press('7 d'),
      choose('Per', 'hour'),
      choose('Key', 'service-1'),
      choose('Model', 'sim-claude'),
      press('90 d'),
    ],
  },
  {
    name: 'Usage, all accounts',
    path: '/usage',
    ready: 'text=Total',
    filters: [choose('By', 'Person'), choose('By', 'Host'), press('90 d')],
  },
  {
    name: 'Requests',
    path: `/requests?account=${ACCOUNT}`,
    ready: 'role=row >> nth=20',
    filters: [
      choose('Key', 'service-1'),
      choose('Model', 'sim-claude'),
      choose('Outcome', 'client left'),
      choose('Outcome', 'refused'),
      choose('Time', 'last hour'),
    ],
  },
  {
    name: 'Requests, all accounts',
    path: '/requests',
    ready: 'role=row >> nth=20',
    filters: [choose('Model', 'sim-claude'), choose('Outcome', 'client left'), choose('Outcome', 'timed out')],
  },
];

const BUSY = '[aria-busy="true"], [data-skeleton]';

/** Counts requests of a page to the management API that have no answer yet. */
function watchRequests(page: Page): { readonly pending: number } {
  const state = { pending: 0 };
  const count = (by: number) => (request: Request) => {
    if (request.url().includes('/manage/v1/')) state.pending += by;
  };
  page.on('request', count(1));
  page.on('requestfinished', count(-1));
  page.on('requestfailed', count(-1));
  return state;
}

/** Resolves once nothing is loading, and it has been painted. */
async function settled(page: Page, requests: { readonly pending: number }): Promise<void> {
  const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
  for (let rounds = 0; rounds < 2_000; rounds++) {
    await page.evaluate(painted);
    if (requests.pending === 0 && (await page.locator(BUSY).count()) === 0) return;
  }
  throw new Error(`${page.url()} is loading without end.`);
}

/** An average would hide slow runs, so the slowest one counts. */
class Figures {
  readonly #rows = new Map<string, { readonly most: number; readonly ms: number[] }>();

  add(name: string, most: number, ms: number): void {
    const row = this.#rows.get(name) ?? { most, ms: [] };
    row.ms.push(Math.round(ms));
    this.#rows.set(name, row);
  }

  /** Prints them, and returns how many are too slow. */
  print(): number {
    let slow = 0;
    for (const [name, { most, ms }] of this.#rows) {
      const isSlow = Math.max(...ms) > most;
      if (isSlow) slow += 1;
      const verdict = isSlow ? `more than ${most}` : 'ok';
      process.stdout.write(`${name.padEnd(52)} ${ms.join(', ').padStart(20)} ms   ${verdict}\n`);
    }
    return slow;
  }
}

async function measure(browser: Browser, gateway: LocalGateway, subject: Subject, figures: Figures): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const requests = watchRequests(page);
  let startedMs = performance.now();
  const took = (): number => performance.now() - startedMs;
  await page.goto(`${gateway.url}/console${subject.path}#token=${gateway.token}`);
  await page.locator(subject.ready).first().waitFor();
  await settled(page, requests);
  figures.add(`${subject.name}, first load`, LOAD_MS_MAX, took());
  for (const { name, run } of subject.filters) {
    startedMs = performance.now();
    await run(page);
    await settled(page, requests);
    figures.add(`  ${subject.name}, ${name}`, FILTER_MS_MAX, took());
  }
  await context.close();
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { folder: { type: 'string' }, receipts: { type: 'string', default: '1000000' } },
  });
  await setup();
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'tollgate-month-'));
  const empty = mkdtempSync(join(tmpdir(), 'tollgate-empty-'));
  const figures = new Figures();
  try {
    if (values.folder === undefined)
      await fillMonth(folder, Number(values.receipts), (words) => process.stdout.write(`${words}\n`));
    for (let run = 0; run <= RUNS; run++) {
      const gateway = await startLocalGateway(empty);
      // The first start creates the ledger and fills the compile cache.
      if (run > 0) figures.add('Start with an empty ledger', READY_MS_MAX, gateway.readyMs);
      await gateway.stop();
    }
    const gateway = await startLocalGateway(folder);
    figures.add('Start with a month of receipts', READY_MS_MAX, gateway.readyMs);
    const browser = await launchBrowser();
    for (let run = 0; run < RUNS; run++)
      for (const subject of SUBJECTS) await measure(browser, gateway, subject, figures);
    await browser.close();
    await gateway.stop();
    return figures.print() === 0 ? 0 : 1;
  } finally {
    rmSync(empty, { recursive: true });
    if (values.folder === undefined) rmSync(folder, { recursive: true });
  }
}

process.exitCode = await main();
