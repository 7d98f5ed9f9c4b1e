import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

interface SmokeTerms {
  /** A program that starts the gateway, with its arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string>>;
}

interface SmokeResult {
  /** From the start of the process until it takes calls. */
  readonly readyMs: number;
  readonly costNanousd: string;
}

const READY_MS_MAX = 60_000;

/** Starts a gateway on a free port, makes a call, reads its receipt and the pages back, and stops it. Throws if anything is wrong. */
export async function smokeTest({ command, cwd, env }: SmokeTerms): Promise<SmokeResult> {
  const [program, ...args] = command;
  const startedMs = performance.now();
  const child = spawn(program!, [...args, '--port', '0', '--json', '--log-level', 'error', '--no-local-hosts'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += chunk));
  const ended = once(child, 'exit');
  const slow = setTimeout(() => child.kill('SIGKILL'), READY_MS_MAX);
  try {
    const ready = once(createInterface({ input: child.stdout }), 'line');
    const line = await Promise.race([ready, ended.then(() => null)]);
    if (line === null) throw new Error(`The gateway ended before it was ready: ${complaint}`);
    const readyMs = performance.now() - startedMs;
    const costNanousd = await makeCall((JSON.parse(line[0]) as { url: string }).url);
    child.kill('SIGTERM');
    const [code] = await ended;
    if (code !== 0) throw new Error(`The gateway ended with ${code} after SIGTERM: ${complaint}`);
    return { readyMs, costNanousd };
  } finally {
    clearTimeout(slow);
    child.kill('SIGKILL');
  }
}

async function makeCall(url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.arrayBuffer();
  const cost = answer.headers.get('x-gateway-cost-nanousd');
  if (!answer.ok || cost === null) throw new Error(`The call was answered with ${answer.status} and the cost ${cost}.`);
  const receipt = await textOf(`${url}/v1/receipts/${answer.headers.get('x-gateway-request-id')}`);
  const { cost_nanousd: charged } = JSON.parse(receipt) as { cost_nanousd: number };
  if (String(charged) !== cost) throw new Error(`The receipt says ${charged}, the header of the call ${cost}.`);
  const script = /src="(\/console\/[^"]+\.js)"/.exec(await textOf(`${url}/console`))?.[1];
  if (script === undefined) throw new Error('The console has no script.');
  for (const path of [script, '/docs', '/v1/catalog']) await textOf(`${url}${path}`);
  return cost;
}

async function textOf(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`GET ${url} was answered with ${response.status}.`);
  return response.text();
}
