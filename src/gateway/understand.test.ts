import { beforeEach, describe, expect, test } from 'vitest';
import { ask, type Body, GatewayFixture } from '../../test/gateway-fixture.ts';
import { GatewayError } from '../canonical/errors.ts';
import type { KeyRow } from '../store/store.ts';
import { openRecord } from './exchange-record.ts';
import { type Admitted, admittedByCount, understand } from './understand.ts';

let fixture: GatewayFixture;

beforeEach(async () => {
  fixture = await GatewayFixture.open();
});

function understood(body: Body = ask(), headers: Record<string, string> = {}): Promise<Admitted> {
  const call = fixture.call(body, headers);
  // Refusals are thrown at once or come with the promise; callers take both.
  return new Promise((resolve) => resolve(understand(fixture.gateway, call, openRecord(call))));
}

async function refusal(body: Body, headers: Record<string, string> = {}): Promise<string> {
  try {
    await understood(body, headers);
  } catch (error) {
    if (error instanceof GatewayError) return `${error.code} ${error.param}`;
    throw error;
  }
  return 'admitted';
}

describe('understand', () => {
  test('knows the model, the worst case and the hosts in order, and has cost nothing yet', async () => {
    const admitted = await understood(ask({ model: 'vendor/ferry' }), { 'x-gateway-max-cost-nanousd': '7000' });
    expect(admitted).toMatchObject({ ceilingNanousd: 7000n, idempotency: null });
    expect(admitted.admission).toMatchObject({ outputLimit: 100, outputBound: 100, model: { id: 'ferry' } });
    const { inputBound, worstNanousd } = admitted.admission;
    // Each kind of token is rounded up on its own.
    expect(Number(worstNanousd) - (inputBound * 10 + 100 * 20)).toBeOneOf([0, 1, 2, 3, 4]);
    expect(admitted.hostCalls.map(({ candidate }) => candidate.host.row.name)).toEqual(['alpha', 'beta', 'gamma']);
    expect(admitted.record).toMatchObject({ requestedModel: 'vendor/ferry', effectiveModel: 'ferry', stream: false });
    expect([fixture.trace, fixture.hosts.requests]).toEqual([[], []]);
  });

  test('needs no promise for the usual call', () => {
    const call = fixture.call();
    expect(understand(fixture.gateway, call, openRecord(call))).not.toBeInstanceOf(Promise);
  });

  test('takes the model’s own limit where the caller sets none', async () => {
    const { max_tokens: _, ...unlimited } = ask();
    expect((await understood(unlimited)).admission.outputLimit).toBe(500);
  });

  test('notes the model of a request that it refuses, for the headers of the refusal', async () => {
    const call = fixture.call(ask({ max_tokens: -1 }));
    const record = openRecord(call);
    expect(() => understand(fixture.gateway, call, record)).toThrow(GatewayError);
    expect(record.requestedModel).toBe('ferry');
  });
});

describe('understand refuses', () => {
  const BAD_HEADERS = {
    'helicone-fallbacks': 'gpt',
    'idempotency-key': '',
    'x-gateway-max-cost-nanousd': 'a lot',
  };
  const { 'helicone-fallbacks': _, ...OWN_BAD_HEADERS } = BAD_HEADERS;
  const CEILING = { 'x-gateway-max-cost-nanousd': 'a lot' };

  /** Each row has its own fault and those of all rows below it, so that the order of the checks decides. */
  test.each<[string, Body, Record<string, string>, string]>([
    ['a body that is not JSON', '{"model":', BAD_HEADERS, 'invalid_request_body model'],
    ['a member written twice', '{"model":"a","model":"b"}', BAD_HEADERS, 'duplicate_key model'],
    ['a header of another gateway', ask({ model: 7 }), BAD_HEADERS, 'unsupported_feature helicone-fallbacks'],
    ['an empty idempotency key', ask({ model: 7 }), OWN_BAD_HEADERS, 'invalid_header idempotency-key'],
    ['a field of the wrong type', ask({ model: 7 }), CEILING, 'invalid_value model'],
    ['a model nobody serves', ask({ model: 'canoe', max_tokens: 501 }), CEILING, 'model_not_found model'],
    ['an output limit above the model’s', ask({ max_tokens: 501, tools: [] }), CEILING, 'invalid_value max_tokens'],
    ['a ceiling that is not a number', ask(), CEILING, 'invalid_header x-gateway-max-cost-nanousd'],
    ['nothing of a good request', ask(), {}, 'admitted'],
  ])('%s', async (_title, body, headers, expected) => {
    expect(await refusal(body, headers)).toBe(expected);
  });

  test('a capability that the model lacks, before its output limit', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }];
    const body = ask({ messages: [{ role: 'user', content }], max_tokens: 501 });
    expect(await refusal(body)).toMatch(/^missing_capability messages/);
  });

  test('a model that the key may not use, in the same words as one that does not exist', async () => {
    const messageFor = (model: string) =>
      understood(ask({ model })).then(
        () => 'admitted',
        (error: Error) => error.message.replace(model, '…'),
      );
    fixture.caller = { accountId: 1n, keyId: 2n, key: { models: ['raft'] } as unknown as KeyRow };
    expect(await messageFor('raft')).toBe('admitted');
    expect(await messageFor('ferry')).toBe(await messageFor('canoe'));
  });

  test('a prompt over the model’s window, by an exact count', async () => {
    fixture = await GatewayFixture.open({ counted: 1001 });
    const body = ask({ messages: [{ role: 'user', content: 'word '.repeat(400) }] });
    expect(await refusal(body)).toBe('context_length_exceeded messages');
  });

  test('nothing for its length where nobody can count', async () => {
    const body = ask({ messages: [{ role: 'user', content: 'word '.repeat(400) }] });
    expect(await refusal(body)).toBe('admitted');
  });
});

describe('a count', () => {
  const LONG = ask({ messages: [{ role: 'user', content: 'word '.repeat(100) }] });

  test('lowers the worst case where the tokenizer finds fewer tokens than bytes', async () => {
    fixture = await GatewayFixture.open({ counted: 100 });
    const admitted = await understood(LONG);
    const counted = await admittedByCount(fixture.gateway, admitted);
    expect(counted!.admission.worstNanousd).toBeLessThan(admitted.admission.worstNanousd);
    expect(counted!.admission.inputBound).toBeGreaterThanOrEqual(100);
    expect(counted!.admission.counted).toMatchObject({ byBytes: admitted.admission, prompt: { scaledTokens: 100 } });
  });

  test('lowers it for a model without a tokenizer too', async () => {
    fixture = await GatewayFixture.open({ counted: 100 });
    const admitted = await understood({ ...LONG, model: 'raft' });
    const counted = await admittedByCount(fixture.gateway, admitted);
    expect(counted!.admission.worstNanousd).toBeLessThan(admitted.admission.worstNanousd);
  });

  test('is null if the tokens cannot be counted, or if it does not lower the worst case', async () => {
    expect(await admittedByCount(fixture.gateway, await understood(LONG))).toBeNull();
    fixture = await GatewayFixture.open({ counted: 100_000 });
    expect(await admittedByCount(fixture.gateway, await understood(LONG))).toBeNull();
  });

  test('is made at once if the call would hold more than the setting by its bytes', async () => {
    const { worstNanousd } = (await understood(LONG)).admission;
    const isCounted = async (countAboveNanousd: bigint, body: Body = LONG) => {
      fixture = await GatewayFixture.open({ counted: 100, countAboveNanousd });
      return (await understood(body)).admission.counted !== null;
    };
    expect(await isCounted(worstNanousd)).toBe(false);
    expect(await isCounted(worstNanousd - 1n)).toBe(true);
  });

  test('is not made if the prompt is only a small part of the hold', async () => {
    fixture = await GatewayFixture.open({ counted: 1, countAboveNanousd: 0n });
    const { admission } = await understood(ask({ n: 100 }));
    expect(admission.inputNanousd * 10n).toBeLessThan(admission.worstNanousd);
    expect(admission.counted).toBeNull();
  });
});
