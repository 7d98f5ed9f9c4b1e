import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatTable } from '../src/cli/table.ts';
import { installPackage } from '../test/client-build.ts';
import { type Harness, startHarness } from '../test/harness.ts';
import { BrowserPage } from './client-runtimes/browser.ts';
import { installRuntime, RUNTIMES, type Runtime } from './client-runtimes/runtimes.ts';
import { runProgram } from './clients/run-program.ts';

/** Runs the packed client library in every runtime that it is for, and prints how it went. */

const RUN_MS = 60_000;

/** Leaves the results in `result`, and prints nothing by itself: a browser has no stdout. */
const PROGRAM = `
import { createClient, fallback, meteredFetch, usd } from '@tollgate/client';
const client = createClient({ baseURL: GATEWAY, maxCost: usd('0.05') });
const messages = [{ role: 'user', content: 'Hello' }];
const answer = await fallback(['sim-gpt-mini', 'sim-gpt'], (member) => client.chat({ model: member.model, messages }, member));
const stream = client.messages.stream({ model: 'sim-claude', max_tokens: 64, messages });
for await (const event of stream) if (typeof event.type !== 'string') throw new Error('not an event');
const metered = meteredFetch();
const body = JSON.stringify({ model: 'sim-gpt', stream: true, messages });
await (await metered.fetch(GATEWAY + '/v1/chat/completions', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text();
await metered.settled();
const refused = await client.chat({ model: 'no-such-model', messages }).catch(({ code }) => code);
const result = JSON.stringify({ receipts: [answer.receipts[0], await stream.receipt, ...metered.receipts], refused });
`;

interface RuntimeResult {
  readonly runtime: string;
  readonly version: string;
  /** Null if all went well. */
  readonly fault: string | null;
}

const COLUMNS = [
  { title: 'RUNTIME', text: ({ runtime }: RuntimeResult) => runtime },
  { title: 'VERSION', text: ({ version }: RuntimeResult) => version },
  { title: 'RESULT', text: ({ fault }: RuntimeResult) => fault ?? 'works' },
] as const;

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-runtimes-'));
  const project = join(folder, 'project');
  const page = await BrowserPage.open();
  const harness = await startHarness({ config: { origins: [page.origin] } });
  const results: RuntimeResult[] = [];
  try {
    installPackage('client', { folder, project });
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    const program = PROGRAM.replaceAll('GATEWAY', `'${harness.url}'`);
    for (const runtime of RUNTIMES)
      results.push(await attempt(runtime.name, runtime.version, () => runIn(runtime, program, project, harness)));
    const inBrowser = async (): Promise<void> => check(await page.run(project, program), harness);
    results.push(await attempt('chromium', 'bundled', inBrowser));
  } finally {
    page.close();
    await harness.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(formatTable(COLUMNS, results));
  return results.every(({ fault }) => fault === null) ? 0 : 1;
}

async function attempt(runtime: string, version: string, run: () => Promise<void>): Promise<RuntimeResult> {
  try {
    await run();
    return { runtime, version, fault: null };
  } catch (error) {
    const [fault = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    return { runtime, version, fault };
  }
}

async function runIn(runtime: Runtime, program: string, project: string, harness: Harness): Promise<void> {
  const executable = await installRuntime(runtime);
  const file = join(project, 'program.js');
  writeFileSync(file, `${program}\nconsole.log(result);`);
  const args = [...runtime.args, file];
  const env = { HOME: project, NO_COLOR: '1' };
  const { code, output } = await runProgram({ program: executable, args, cwd: project, env, limitMs: RUN_MS });
  if (code !== 0) throw new Error(`ended with ${code}: ${output.trim().split('\n').at(-1)}`);
  await check(output.trim().split('\n').at(-1)!, harness);
}

/** Every receipt that the client got is the same in the ledger. */
async function check(text: string, harness: Harness): Promise<void> {
  const { receipts, refused } = JSON.parse(text) as {
    receipts: { requestId: string; costNanousd: string }[];
    refused: string;
  };
  if (receipts.length !== 3) throw new Error(`got ${receipts.length} receipts instead of 3`);
  if (refused !== 'model_not_found') throw new Error(`an unknown model gave ${refused}`);
  for (const { requestId, costNanousd } of receipts) {
    const { cost_nanousd } = await harness.receipt(requestId);
    if (cost_nanousd === null || cost_nanousd <= 0 || String(cost_nanousd) !== costNanousd)
      throw new Error(`${requestId} cost ${cost_nanousd}, but the client says ${costNanousd}`);
  }
}

process.exitCode = await main();
