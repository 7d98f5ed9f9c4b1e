import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../test/harness.ts';
import { snippetsFor } from '../src/snippets/snippets.ts';

let harness: Harness;
let secret: string;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  ({ secret } = await harness.mint());
});
afterAll(() => harness.stop());

/** Runs a module in the folder of this file, where the packages of the clients are found. */
async function printed(source: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { cwd: import.meta.dirname });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return output;
}

test.each(['OpenAI SDK', 'Anthropic SDK', 'AI SDK', 'LangChain'])(
  'the snippet for %s prints the answer',
  async (name) => {
    const terms = { url: harness.url, model: 'sim-gpt-mini', messagesModel: 'sim-claude', secret };
    const { text } = snippetsFor(terms).find((each) => each.name === name)!;
    expect(await printed(text)).toContain('simulated answer to: "Hello"');
  },
);
