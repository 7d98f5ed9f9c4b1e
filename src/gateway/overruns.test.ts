import { describe, expect, test } from 'vitest';
import { chatFrame, FINISH_FRAME } from '../../test/fake-hosts.ts';
import { ask, GatewayFixture, type GatewayOptions, PRICE } from '../../test/gateway-fixture.ts';

/** Calls whose prompt had more tokens than were counted for their hold. */

const CONTENT_BYTES = 500;
const COUNTED = 100;
const PROMPT = ask({ max_tokens: 1, messages: [{ role: 'user', content: 'word '.repeat(CONTENT_BYTES / 5) }] });

const open = (more: GatewayOptions = {}) =>
  GatewayFixture.open({ counted: COUNTED, countAboveNanousd: 0n, hangupAllowanceNanousd: 5_000n, ...more });

/** Makes a call whose host reports this many tokens of input, and returns its receipt. */
async function callReporting(fixture: GatewayFixture, promptTokens: number, body = PROMPT) {
  const { call, done, asked } = fixture.begin({ ...body, stream: true });
  const usage = { prompt_tokens: promptTokens, completion_tokens: 0, total_tokens: promptTokens };
  (await asked()).stream(chatFrame('Hello'), FINISH_FRAME, { choices: [], usage }, '[DONE]');
  await done;
  return (await fixture.receipt(call))!;
}

const lost = async ({ store }: GatewayFixture) => (await store.findAccount(1n))!.lostNanousd;
const boundOf = (heldNanousd: bigint) => Number((heldNanousd - PRICE.output) / PRICE.input);

describe('an overrun within the bytes of the prompt', () => {
  test('is charged at the hold, and the rest is a loss against the allowance of the account', async () => {
    const fixture = await open();
    const { heldNanousd } = await callReporting(fixture, 1);
    const reported = boundOf(heldNanousd) + 100;
    const receipt = await callReporting(fixture, reported);
    const lossNanousd = BigInt(reported) * PRICE.input - heldNanousd;
    expect(receipt).toMatchObject({
      costNanousd: heldNanousd,
      lossNanousd,
      lossReason: 'prompt_exceeded_count',
      components: null,
    });
    expect(lossNanousd).toBeGreaterThan(0n);
    expect(await lost(fixture)).toBe(lossNanousd);
  });

  test('never touches the health of the host, however often it happens', async () => {
    const fixture = await open({ hangupAllowanceNanousd: 1_000_000n });
    const { heldNanousd } = await callReporting(fixture, 1);
    for (let call = 0; call < 8; call++) {
      const { lossReason, host } = await callReporting(fixture, boundOf(heldNanousd) + 100);
      expect([lossReason, host]).toEqual(['prompt_exceeded_count', 'alpha']);
    }
  });

  test('brings the account back to bounds by bytes once the allowance is used up, until the next hour', async () => {
    const fixture = await open();
    const { heldNanousd } = await callReporting(fixture, 1);
    const reported = boundOf(heldNanousd) + 300;
    const held: bigint[] = [];
    for (let call = 0; call < 4; call++) held.push((await callReporting(fixture, reported)).heldNanousd);
    const byBytes = held.at(-1)!;
    expect(held).toEqual([heldNanousd, heldNanousd, byBytes, byBytes]);
    expect(byBytes).toBeGreaterThanOrEqual(heldNanousd + BigInt(CONTENT_BYTES - COUNTED) * PRICE.input);
    expect(await lost(fixture)).toBeLessThan(2n * 5_000n);
    fixture.clock.advance(3_600_000);
    expect((await callReporting(fixture, 1)).heldNanousd).toBe(heldNanousd);
  });

  test('does not count for an unlimited account', async () => {
    const fixture = await open({ accountKind: 'unlimited', hangupAllowanceNanousd: 0n });
    const { heldNanousd } = await callReporting(fixture, 1);
    await callReporting(fixture, boundOf(heldNanousd) + 100);
    expect((await callReporting(fixture, 1)).heldNanousd).toBe(heldNanousd);
    expect(await lost(fixture)).toBe(0n);
  });

  test('beyond the bytes is the host’s, not the account’s', async () => {
    const fixture = await open();
    const receipt = await callReporting(fixture, 5_000);
    expect(receipt.lossReason).toBe('host_reported_more_than_bound');
    expect(await lost(fixture)).toBe(0n);
  });
});

test('an overrun tells which factor would have covered the prompt', async () => {
  const fixture = await open();
  const noted: unknown[] = [];
  const tokenFactors = { of: () => 1, noteOverrun: (...overrun: unknown[]) => void noted.push(overrun) };
  Object.assign(fixture.gateway, { tokenFactors });
  const { heldNanousd } = await callReporting(fixture, 1);
  await callReporting(fixture, boundOf(heldNanousd) + COUNTED);
  expect(noted).toEqual([[expect.objectContaining({ id: 'ferry' }), 1n, 2]]);
});

test('an allowance of zero always holds by bytes', async () => {
  const fixture = await open({ hangupAllowanceNanousd: 0n });
  const { heldNanousd } = await callReporting(fixture, 1);
  expect(heldNanousd).toBeGreaterThan(BigInt(CONTENT_BYTES) * PRICE.input);
});

test('a call that only a count would make fit is refused while the allowance is used up, and the error says so', async () => {
  const fixture = await open({ hangupAllowanceNanousd: 0n, creditNanousd: 5_000n });
  const { sink, done } = fixture.begin(PROMPT);
  await done;
  expect(sink.sent?.status).toBe(402);
  expect(sink.text).toContain('by the bytes of its prompt');
  expect(sink.text).toContain('GET /v1/balance');
});
