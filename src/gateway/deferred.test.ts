import { beforeEach, describe, expect, test } from 'vitest';
import { chatAnswer, USAGE } from '../../test/fake-hosts.ts';
import type { FakeSink } from '../../test/fake-sink.ts';
import { ask, type Body, GatewayFixture, PRICE } from '../../test/gateway-fixture.ts';
import type { Call, Deferred } from './call.ts';
import type { CallEnding, CallLedger } from './call-ledger.ts';
import { exchange } from './exchange.ts';

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;
const RESERVED_NANOUSD = 100_000n;

let fixture: GatewayFixture;
/** What the ledger is told when the call is settled. */
let endings: (CallEnding | undefined)[];

beforeEach(async () => {
  fixture = await GatewayFixture.open();
  endings = [];
});

/** The real ledger, which holds the reserved amount and notes the ending. */
function ledgerOf(reservedNanousd: bigint): CallLedger {
  const { ledger } = fixture;
  return {
    hold: (request) => ledger.hold({ ...request, amountNanousd: reservedNanousd }),
    settle: (id, settlement, terms) => {
      endings.push(terms.ending);
      return ledger.settle(id, settlement, terms);
    },
    release: (id, release) => ledger.release(id, release),
    findRepeat: async () => null,
    balance: async () => null,
  };
}

interface Run {
  readonly sink: FakeSink;
  readonly call: Call;
}

async function run(body: Body, deferred: Partial<Deferred>, serve: () => Promise<void>): Promise<Run> {
  const terms = { modelId: 'ferry', reservedNanousd: RESERVED_NANOUSD, ...deferred };
  const call = fixture.call(body, {}, { deferred: terms });
  const sink = fixture.sink();
  const gateway = { ...fixture.gateway, ledger: ledgerOf(terms.reservedNanousd) };
  await Promise.all([exchange(gateway, call, sink), serve()]);
  return { sink, call };
}

const answering = async (): Promise<void> => (await fixture.hosts.next()).answer(200, chatAnswer());
const silent = async (): Promise<void> => {};

describe('a deferred call', () => {
  test('gives the ledger the very response that a client would get, before it settles', async () => {
    const { sink } = await run(ask(), {}, answering);
    const { answer, error } = endings[0]!;
    expect(error).toBeNull();
    expect([answer?.status, answer?.body.toString()]).toEqual([200, sink.text]);
    expect(answer?.lines).toContain(`x-gateway-cost-nanousd: ${COST_NANOUSD}\r\n`);
  });

  test('gives the ledger the response of a failure too, with its error', async () => {
    const { sink } = await run(ask({ model: 'raft' }), { modelId: 'raft' }, async () =>
      (await fixture.hosts.next()).answer(400, { error: { message: 'No.' } }),
    );
    const { answer, error } = endings[0]!;
    expect([error?.kind, answer?.status, answer?.body.toString()]).toEqual(['host_refused_request', 400, sink.text]);
    expect(answer?.lines).toContain('x-gateway-cost-nanousd: 0\r\n');
  });

  test('costs at most what was reserved, and the rest is a loss', async () => {
    const { call } = await run(ask(), { reservedNanousd: COST_NANOUSD - 1n }, answering);
    expect(await fixture.receipt(call)).toMatchObject({
      costNanousd: COST_NANOUSD - 1n,
      lossNanousd: 1n,
      lossReason: 'prompt_exceeded_count',
    });
  });

  test('runs the model that was chosen when it was accepted', async () => {
    const { sink } = await run(ask({ model: 'auto' }), { modelId: 'ferry' }, answering);
    expect(sink.sent?.headers['x-gateway-effective-model']).toBe('ferry');
    expect(fixture.hosts.requests[0]?.body.model).toBe('ferry-at-alpha');
  });

  test('is refused if that model is gone, and no other runs instead', async () => {
    const { sink } = await run(ask({ model: 'auto' }), { modelId: 'barge' }, silent);
    expect([sink.sent?.status, fixture.hosts.requests.length]).toEqual([404, 0]);
  });
});
