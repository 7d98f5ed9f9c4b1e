import { formatTable } from '../src/cli/table.ts';
import { usd } from '../src/cli/text-values.ts';
import { startHarness } from '../test/harness.ts';
import { readFlags } from '../test/read-flags.ts';
import type { Agent } from './clients/agent.ts';
import { AGENTS } from './clients/agents.ts';
import { startClosedProxy } from './clients/closed-proxy.ts';
import { installAgent } from './clients/install.ts';
import { type AgentResult, runAgent } from './clients/run-agent.ts';

/** Runs coding agents, unmodified, through the gateway, with the settings that `tollgate setup` writes. */

const OUTPUT_CHARS_SHOWN = 3_000;

const COLUMNS = [
  { title: 'AGENT', text: ({ agent }: AgentResult) => agent.name },
  { title: 'VERSION', text: ({ agent }: AgentResult) => agent.version },
  { title: 'WIRES', text: ({ wires }: AgentResult) => wires.join(',') || '-' },
  { title: 'TASK', text: ({ fault }: AgentResult) => (fault === null ? 'done' : 'not done') },
  { title: 'CALLS', align: 'right', text: ({ calls }: AgentResult) => String(calls) },
  { title: 'COST', align: 'right', text: ({ costNanousd }: AgentResult) => usd(costNanousd) },
] as const;

async function main(): Promise<number> {
  const { values } = readFlags({ options: { only: { type: 'string' } } });
  const chosen = AGENTS.filter(({ name }) => values.only === undefined || name === values.only);
  if (chosen.length === 0) {
    process.stderr.write(`--only must be one of ${AGENTS.map(({ name }) => name).join(', ')}.\n`);
    return 2;
  }
  const results = await runAll(chosen);
  for (const { agent, fault, output } of results) {
    if (fault !== null) process.stderr.write(`\n${agent.name}: ${fault}\n${output.slice(-OUTPUT_CHARS_SHOWN)}\n`);
  }
  process.stdout.write(formatTable(COLUMNS, results));
  return results.every(({ fault }) => fault === null) ? 0 : 1;
}

async function runAll(agents: readonly Agent[]): Promise<AgentResult[]> {
  const harness = await startHarness({ hosted: true });
  const proxy = await startClosedProxy();
  const results: AgentResult[] = [];
  try {
    for (const agent of agents) {
      process.stderr.write(`${agent.name} ${agent.version}: `);
      const result = await attempt(agent, async () => runAgent(agent, await installAgent(agent), harness, proxy));
      const kept = result.asked.length === 0 ? '' : `; kept from ${result.asked.join(', ')}`;
      process.stderr.write(`${result.fault ?? 'done'}${kept}\n`);
      results.push(result);
    }
    await harness.expectCleanBooks();
  } finally {
    proxy.close();
    await harness.stop();
  }
  return results;
}

/** An agent that cannot be installed or set up does not keep the others from running. */
async function attempt(agent: Agent, run: () => Promise<AgentResult>): Promise<AgentResult> {
  try {
    return await run();
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    return { agent, wires: [], fault, calls: 0, costNanousd: 0n, asked: [], output: '' };
  }
}

process.exitCode = await main();
