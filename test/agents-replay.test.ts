import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AGENTS } from '../campaigns/clients/agents.ts';
import { parseJson } from '../src/json/json.ts';
import { type Harness, startHarness } from './harness.ts';
import { callRaw, eventsOf, type RawAnswer } from './raw-client.ts';

/** Requests in the form in which coding agents send them, seen in runs of `npm run clients`. */
const FOLDER = resolve(import.meta.dirname, '..', 'fixtures', 'agents');

interface SeenRequest {
  readonly note: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown> & { readonly stream?: boolean; readonly tools?: readonly SeenTool[] };
}

interface SeenTool {
  readonly type: string;
  readonly name?: string;
  readonly function?: { readonly name: string };
  readonly tools?: readonly { readonly name: string }[];
}

interface Seen {
  readonly agent: string;
  readonly version: string;
  readonly requests: readonly SeenRequest[];
}

const SEEN = readdirSync(FOLDER).map((file) => parseJson(readFileSync(resolve(FOLDER, file), 'utf8')) as Seen);
/** One for each wire of a host. */
const MODELS = ['sim-gpt-mini', 'sim-claude', 'sim-responses'];
const isMessages = (path: string): boolean => path.startsWith('/v1/messages');
/** Only one of them may be called on the messages wire. */
const modelsFor = ({ path }: SeenRequest): readonly string[] => (isMessages(path) ? ['sim-claude'] : MODELS);
const CASES = SEEN.flatMap(({ agent, requests }) =>
  requests.flatMap((request) =>
    modelsFor(request).map((model) => ({ name: `${agent}: ${request.note}, to ${model}`, model, request })),
  ),
);

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
beforeEach(() => harness.sim.reset());
afterAll(async () => {
  await harness.expectCleanBooks();
  await harness.stop();
});

function send({ path, headers, body }: SeenRequest, model: string): Promise<RawAnswer> {
  return callRaw(harness.url + path, { ...body, model }, { headers: { ...headers, authorization: 'Bearer local' } });
}

/** The name of a tool as the agent knows it, and as a model gets it. */
function toolNames(tool: SeenTool): { own: string; atModel: string } {
  const inGroup = tool.tools?.[0]?.name;
  if (inGroup !== undefined) return { own: inGroup, atModel: `${tool.name}__${inGroup}` };
  const own = tool.function?.name ?? tool.name ?? '';
  return { own, atModel: own };
}

function expectWholeStream({ text, ended }: RawAnswer, path: string): void {
  expect(ended).toBe('complete');
  const last = eventsOf(text).at(-1)!;
  if (path === '/v1/chat/completions') expect(last).toBe('[DONE]');
  else if (isMessages(path)) expect(parseJson(last)).toMatchObject({ type: 'gateway_receipt' });
  else expect(parseJson(last)).toMatchObject({ type: 'response.completed' });
}

test.each(CASES)('$name is answered and charged', async ({ model, request }) => {
  const answer = await send(request, model);
  expect(answer.status, answer.text).toBe(200);
  if (request.body.stream) expectWholeStream(answer, request.path);
  await harness.settled();
  const receipt = await harness.newestReceipt();
  expect(receipt).toMatchObject({ effectiveModel: model, ended: 'complete' });
  expect(receipt.costNanousd).toBeGreaterThan(0n);
});

/** The first request with tools of each agent that has them. */
const OFFERS = SEEN.flatMap(({ agent, requests }) => {
  const request = requests.find(({ body }) => body.tools !== undefined);
  return request === undefined ? [] : modelsFor(request).map((model) => ({ agent, model, request }));
});

test.each(OFFERS)(
  '$agent gets calls of every tool back from $model under the name that it knows',
  async ({ model, request }) => {
    for (const tool of request.body.tools!) {
      const { own, atModel } = toolNames(tool);
      harness.sim.script({ calls: [{ name: atModel, arguments: { part: own } }] });
      const answer = await send(request, model);
      expect(answer.status, answer.text).toBe(200);
      expectWholeStream(answer, request.path);
      expect(answer.text).toContain(`"name":"${own}"`);
      if (atModel !== own) expect(answer.text).toContain(`"namespace":"${tool.name}"`);
    }
  },
);

test('there are requests of every agent that is run, in the version that is run', () => {
  const seen = SEEN.map(({ agent, version }) => `${agent} ${version}`);
  expect(seen.toSorted()).toEqual(AGENTS.map(({ name, version }) => `${name} ${version}`).toSorted());
});
