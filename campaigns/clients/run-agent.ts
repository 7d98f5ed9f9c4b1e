import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Harness } from '../../test/harness.ts';
import { BIN } from '../programs.ts';
import { type Agent, KEY_VARIABLE, type Scratch } from './agent.ts';
import type { ClosedProxy } from './closed-proxy.ts';
import { endStragglers, runProgram } from './run-program.ts';
import { TYPO } from './typo-task.ts';

export interface AgentResult {
  readonly agent: Agent;
  readonly wires: readonly string[];
  /** Null: the task is done. */
  readonly fault: string | null;
  readonly calls: number;
  readonly costNanousd: bigint;
  /** Hosts that it tried to reach besides the gateway. */
  readonly asked: readonly string[];
  readonly output: string;
}

const MODEL = 'sim-gpt-mini';
const COMMAND_MS = 180_000;
const CREDIT_NANOUSD = 10_000_000_000n;
const WIRES: Readonly<Record<string, string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};

export async function runAgent(
  agent: Agent,
  program: string,
  harness: Harness,
  proxy: ClosedProxy,
): Promise<AgentResult> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), `tollgate-${agent.name}-`)));
  const { secret } = await harness.mint({ creditNanousd: CREDIT_NANOUSD });
  const scratch: Scratch = { home, work: join(home, 'work'), key: secret };
  const linesBefore = harness.log.length;
  try {
    const env = baseEnvironment(scratch, proxy);
    await prepare(agent, scratch, harness, env);
    harness.sim.reset();
    harness.sim.script({ turns: agent.turns(scratch), turnsAfter: agent.turnsAfter });
    proxy.takeAsked();
    const { fault, output } = await perform(agent, program, scratch, { ...env, ...agent.env(scratch) });
    await harness.settled();
    const used = await usageOf(harness, secret, linesBefore);
    return { agent, ...used, fault: fault ?? used.refusal, asked: proxy.takeAsked(), output };
  } finally {
    endStragglers(home);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Without the environment of this process, which may contain real keys. */
function baseEnvironment({ home }: Scratch, proxy: ClosedProxy): Record<string, string> {
  const git = { GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' };
  const committer = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' };
  const terminal = { TERM: 'dumb', NO_COLOR: '1', LANG: 'C.UTF-8' };
  const optOut = { DO_NOT_TRACK: '1' };
  return { HOME: home, ...terminal, ...git, ...committer, ...optOut, ...proxy.env };
}

async function prepare(
  agent: Agent,
  { home, work }: Scratch,
  harness: Harness,
  env: Record<string, string>,
): Promise<void> {
  mkdirSync(work);
  writeFileSync(join(work, 'notes.txt'), `${TYPO}\n`);
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'Start'],
  ]) {
    await mustRun('git', args, work, env);
  }
  for (const [path, text] of Object.entries(agent.prepared ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const gateway = { TOLLGATE_HOSTED: 'true', TOLLGATE_PORT: new URL(harness.url).port, TOLLGATE_DATA: harness.folder };
  const args = [BIN, 'setup', agent.name, '--model', agent.model ?? MODEL, '--key-env', KEY_VARIABLE];
  await mustRun(process.execPath, args, home, { ...env, ...gateway });
}

async function mustRun(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<void> {
  const { code, output } = await runProgram({ program, args, cwd, env, limitMs: COMMAND_MS });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${output}`);
}

async function perform(
  agent: Agent,
  program: string,
  scratch: Scratch,
  env: Record<string, string>,
): Promise<{ fault: string | null; output: string }> {
  let output = '';
  for (const args of agent.commands(scratch)) {
    const end = await runProgram({ program, args, cwd: scratch.work, env, limitMs: COMMAND_MS });
    output += end.output;
    if (end.code === null) return { fault: `took more than ${COMMAND_MS / 1000} seconds`, output };
    if (end.code !== 0) return { fault: `ended with exit code ${end.code}`, output };
  }
  return { fault: agent.findFault(scratch, output), output };
}

interface ReceiptPage {
  readonly data: readonly { readonly cost_nanousd: number | null; readonly route: string }[];
}

/** What the agent's key has used, by its receipts, and the first call that was refused or failed. */
async function usageOf(harness: Harness, key: string, linesBefore: number) {
  const answer = await harness.get('/v1/receipts?limit=100', { authorization: `Bearer ${key}` });
  const { data } = (await answer.json()) as ReceiptPage;
  const failed = harness.log.slice(linesBefore).find(({ status }) => typeof status === 'number' && status >= 400);
  return {
    wires: [...new Set(data.map(({ route }) => WIRES[route] ?? route))],
    calls: data.length,
    costNanousd: data.reduce((sum, { cost_nanousd: cost }) => sum + BigInt(cost ?? 0), 0n),
    refusal: failed === undefined ? null : `${failed.route} answered ${failed.status} ${failed.error}`,
  };
}
