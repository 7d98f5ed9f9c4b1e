import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadCatalogFile } from '../src/catalog/load.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import { agentRequest } from './agent-request.ts';
import { type Harness, startHarness } from './harness.ts';

/** Coding agents under the day cap that the README shows. */

const SONNET = 'claude-sonnet-5-5';
const CALLS = 8;

/** The catalog's model with the catalog's price, served by the simulated host. */
function simulated(id: string): ModelRow {
  const row = loadCatalogFile().models.find((model) => model.id === id)!;
  return { ...row, hosts: [{ host: 'sim', model: 'sim-claude', wire: 'messages' }] };
}

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ hosted: true, config: { models: [simulated(SONNET)] } });
});
afterAll(() => harness.stop());

test('the key of the README carries eight agents at once', async () => {
  const [, cap] = /keys mint --account acme --cap (\d+) --window day/.exec(readFileSync('README.md', 'utf8')) ?? [];
  const capNanousd = BigInt(cap!) * 1_000_000_000n;
  const { secret } = await harness.mint({ creditNanousd: 25_000_000_000n, capNanousd, capWindow: 'day' });
  const body = JSON.stringify(agentRequest(SONNET));
  expect(body.length).toBeGreaterThan(40_000);
  const answers = await Promise.all(
    Array.from({ length: CALLS }, async () => {
      const answer = await harness.post(body, { authorization: `Bearer ${secret}` }, '/v1/messages');
      const text = await answer.text();
      expect([answer.status, answer.status === 200 ? '' : text]).toEqual([200, '']);
      return harness.receipt(answer.headers.get('x-gateway-request-id')!, secret);
    }),
  );
  const held = answers.reduce((sum, receipt) => sum + BigInt(receipt.held_nanousd), 0n);
  expect(held).toBeLessThanOrEqual(capNanousd);
  for (const { cost_nanousd, held_nanousd } of answers) expect(cost_nanousd).toBeLessThanOrEqual(held_nanousd);
});

test('long requests in many pieces, one behind the other on a connection, are counted and reach their host whole', async () => {
  const { secret } = await harness.mint({ creditNanousd: 25_000_000_000n });
  const contents = ['first', 'second'].map((name) => `${name} turn of a long conversation. `.repeat(4_000));
  const requests = contents.map((content) => {
    const body = JSON.stringify({ model: SONNET, max_tokens: 20, messages: [{ role: 'user', content }] });
    const close = content === contents.at(-1) ? 'connection: close\r\n' : '';
    const head = `host: localhost\r\nx-api-key: ${secret}\r\ncontent-type: application/json\r\n${close}`;
    return `POST /v1/messages HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n${body}`;
  });
  const nanousdPerToken = simulated(SONNET).price!.input / 1_000_000;
  harness.sim.reset();
  const { hostname, port } = new URL(harness.url);
  const socket = connect(Number(port), hostname);
  socket.write(requests.join(''));
  const answers = await text(socket);
  expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  expect(harness.sim.calls.map(({ body }) => JSON.parse(body).messages[0].content)).toEqual(contents);
  for (const [, id] of answers.matchAll(/^x-gateway-request-id: (.+)\r$/gm)) {
    const { held_nanousd } = await harness.receipt(id!, secret);
    // A hold by bytes would be for as many tokens as the text has bytes.
    expect(Number(held_nanousd)).toBeLessThan((contents[0]!.length / 2) * nanousdPerToken);
  }
});

test('a quote shows how much closer the counted bound of an agent’s request is', async () => {
  const { secret } = await harness.mint({ creditNanousd: 25_000_000_000n });
  const asked = { path: '/v1/messages', body: agentRequest(SONNET) };
  const answer = await harness.post(asked, { authorization: `Bearer ${secret}` }, '/v1/quote');
  const quote = (await answer.json()) as {
    components: { input: number };
    bounds: { bytes_nanousd: number; counted_nanousd: number };
    worst_case_nanousd: number;
    likely_nanousd: number;
  };
  const { bytes_nanousd: byBytes, counted_nanousd: counted } = quote.bounds;
  expect(quote.worst_case_nanousd).toBe(counted);
  const output = quote.worst_case_nanousd - quote.components.input;
  expect(quote.components.input * 4).toBeLessThan(byBytes - output);
  expect(counted).toBeGreaterThan(quote.likely_nanousd);
});
