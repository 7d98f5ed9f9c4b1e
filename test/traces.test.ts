import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadSimulatedFile } from '../src/catalog/load.ts';
import { readTracing } from '../src/config/tracing.ts';
import { startSim } from '../src/sim/sim.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { type Harness, simHost, startHarness } from './harness.ts';

/** Traces as a collector receives them, over real HTTP from a real gateway. */

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const CANARY = 'canary-words-of-the-prompt';
const MODEL = loadSimulatedFile().models.find(({ id }) => id === 'sim-gpt')!;

interface Collector {
  readonly url: string;
  readonly process: ChildProcess;
  received(): Promise<{ readonly headers: Record<string, string>; readonly body: string }[]>;
}

async function startCollector(mode = 'take'): Promise<Collector> {
  const file = join(import.meta.dirname, 'otlp-collector-process.ts');
  const child = spawn(process.execPath, [file, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  return { url, process: child, received: async () => (await fetch(`${url}/received`)).json() as never };
}

async function stopCollector({ process: child }: Collector): Promise<void> {
  child.kill();
  await once(child, 'exit');
}

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code: number; readonly message?: string };
}

function spansIn(bodies: readonly { readonly body: string }[]): Span[] {
  type Body = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  return bodies.flatMap(({ body }) =>
    (JSON.parse(body) as Body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

function attributesOf({ attributes }: Span): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

const SERVER = 2;
const CLIENT = 3;

describe('a collector', () => {
  let collector: Collector;
  let second: Sim;
  let harness: Harness;

  beforeAll(async () => {
    collector = await startCollector();
  });
  afterAll(() => stopCollector(collector));

  beforeEach(async () => {
    second = await startSim();
  });

  /** Two hosts, so that the first, which is cheaper, can fail. */
  async function start(variables: Record<string, string> = {}): Promise<void> {
    const tracing = readTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables }, []);
    const hosts = ['northern', 'eastern'].map((host, at) => {
      const priceNanousd = (at + 1) * 100_000_000;
      return { ...MODEL.hosts[0]!, host, price: { input: priceNanousd, output: priceNanousd } };
    });
    harness = await startHarness({
      config: { tracing, models: [{ ...MODEL, hosts }] },
      hosts: (first) => [
        simHost(first, { name: 'northern', simulated: false }),
        simHost(second, { name: 'eastern', simulated: false }),
      ],
    });
  }

  const ask = { model: 'sim-gpt', messages: [{ role: 'user', content: CANARY }], stream: true };

  /** Stopping sends what is waiting. */
  async function stop(): Promise<void> {
    await harness.settled();
    await harness.stop();
    await second.close();
  }

  test('gets the spans of a streamed call with a retry, and no word of it', async () => {
    await start({
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of%20the%20test',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    });
    harness.sim.script({ status: 500 }, { times: 1 });
    second.script({ words: 3, tokensPerChunk: 1 }, { times: 1 });
    const headers = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate: 'other=1' };
    const response = await harness.post(ask, { ...headers, authorization: 'Bearer sk-foreign-secret' });
    const answer = await response.text();
    const receipt = await harness.newestReceipt();
    const [hostCall] = second.calls;
    await stop();

    const bodies = await collector.received();
    expect(bodies[0]!.headers).toMatchObject({ 'x-collector-key': 'of the test', 'content-encoding': 'gzip' });
    const spans = spansIn(bodies).filter(({ traceId }) => traceId === TRACE_ID);
    const server = spans.find(({ kind }) => kind === SERVER)!;
    expect(server).toMatchObject({ name: 'POST /v1/chat/completions', parentSpanId: PARENT_ID });
    expect(attributesOf(server)).toMatchObject({
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'tollgate.request_id': response.headers.get('x-gateway-request-id'),
      'tollgate.cost_nanousd': Number(receipt.costNanousd),
      'tollgate.ended': 'complete',
      'tollgate.attempts': 2,
    });
    const others = spans.filter((span) => span !== server);
    expect(others.map(({ name }) => name)).toEqual(['ledger hold', 'ledger settle', 'chat sim-gpt', 'chat sim-gpt']);
    expect(new Set(others.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([server.spanId]));
    const [failed, served] = spans.filter(({ kind }) => kind === CLIENT);
    expect(failed).toMatchObject({ status: { code: 2 } });
    expect(attributesOf(served!)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'eastern',
      'gen_ai.request.model': 'sim-gpt',
      'gen_ai.usage.output_tokens': receipt.usage?.outputTokens,
    });
    expect(hostCall!.headers).toMatchObject({
      traceparent: `00-${TRACE_ID}-${served!.spanId}-01`,
      tracestate: 'other=1',
    });
    for (const span of spans)
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    const text = bodies.map(({ body }) => body).join();
    const words = JSON.stringify(answer.match(/"content":"([^"]+)"/)?.[1]);
    for (const secret of [CANARY, 'sk-foreign-secret', 'Bearer', words]) expect(text).not.toContain(secret);
  });

  test('gets nothing of a call whose caller does not trace it, but the host learns of that decision', async () => {
    await start();
    const id = TRACE_ID.replace('4bf9', 'aaaa');
    await (await harness.post(ask, { traceparent: `00-${id}-${PARENT_ID}-00` })).text();
    const [hostCall] = [...harness.sim.calls, ...second.calls];
    await stop();
    expect(spansIn(await collector.received()).filter(({ traceId }) => traceId === id)).toEqual([]);
    expect(hostCall!.headers.traceparent).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-00$`));
  });
});

test('a collector that fails costs no call; the spans are counted and one line is logged', async () => {
  const collector = await startCollector('fail');
  const tracing = readTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '1' }, []);
  const harness = await startHarness({ config: { tracing } });
  const ask = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
  for (let call = 0; call < 3; call++) expect((await harness.post(ask)).status).toBe(200);
  await harness.stop();
  expect(harness.log.filter(({ msg }) => /Spans are dropped/.test(String(msg)))).toHaveLength(1);
  await stopCollector(collector);
});

test('without a collector, hosts get no trace headers', async () => {
  const harness = await startHarness();
  const ask = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }] };
  await (await harness.post(ask, { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` })).text();
  expect(harness.sim.calls[0]!.headers).not.toHaveProperty('traceparent');
  await harness.stop();
});
