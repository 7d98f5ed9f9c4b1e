import { beforeEach, describe, expect, test } from 'vitest';
import { chatAnswer, chatFrame, FINISH_FRAME } from '../../test/fake-hosts.ts';
import { ask, GatewayFixture, PRICE } from '../../test/gateway-fixture.ts';
import { LIMITS } from '../limits.ts';

/** A part of a response for which no memory is left in these tests. */
const LARGE = ' '.repeat(2 * LIMITS.answerBytesFree);

let fixture: GatewayFixture;

beforeEach(async () => {
  fixture = await GatewayFixture.open();
});

/** All that one account may take while others have nothing. */
const ALONE = (LIMITS.answersBytesMax * LIMITS.answersAccountPercent) / 100;

/** Other calls of the account take up all that it may. */
function fillMemory(): void {
  expect(fixture.gateway.answers.take(null, ALONE, 1n)).toBe(true);
}

describe('a response for which its account has no memory left', () => {
  test('is given up, is not charged, and may have cost the operator what was held', async () => {
    fillMemory();
    const { sink, call, done, asked } = fixture.begin();
    const request = await asked();
    request.head(200);
    request.data(LARGE);
    await done;
    expect(request.cancelled).toBe(true);
    expect(fixture.hosts.requests).toHaveLength(1);
    expect(sink.sent?.status).toBe(502);
    expect(sink.json).toMatchObject({
      error: { code: 'host_failed', message: expect.stringContaining('50 percent') },
    });
    expect(await fixture.receipt(call)).toMatchObject({
      ended: 'failed',
      costNanousd: 0n,
      lossReason: 'host_may_bill_uncharged_work',
    });
    expect((await fixture.receipt(call)).lossNanousd).toBeGreaterThan(0n);
  });

  test('ends a stream with the reason after its content, which is charged', async () => {
    fillMemory();
    const { sink, call, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    request.stream(chatFrame('Hello'));
    request.data(`data: ${LARGE}`);
    await done;
    expect([request.cancelled, sink.sent?.status]).toEqual([true, 200]);
    expect(sink.text).toContain('no memory for this response');
    const { ended, costNanousd } = await fixture.receipt(call);
    expect(ended).toBe('upstream_error');
    expect(costNanousd).toBeGreaterThan(PRICE.output);
  });

  test('is refused with a status if nothing of its stream was sent', async () => {
    fillMemory();
    const { sink, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    request.head(200, { 'content-type': 'text/event-stream' });
    request.data(`data: ${LARGE}`);
    await done;
    expect(sink.sent?.status).toBe(502);
  });

  test('passes if it is a stream of which nothing is kept, however long it is', async () => {
    fillMemory();
    const { sink, done, asked } = fixture.begin(ask({ stream: true }));
    const request = await asked();
    request.stream(chatFrame('First'));
    for (let part = 0; part < 4; part++) request.frames(chatFrame('a'.repeat(LIMITS.answerBytesFree)));
    request.frames(chatFrame(' last'), FINISH_FRAME, '[DONE]');
    await done;
    expect(request.cancelled).toBe(false);
    expect(sink.text).toContain(' last');
    expect(sink.text).not.toContain('no memory');
  });

  test('passes if it is small', async () => {
    fillMemory();
    const { sink, done, asked } = fixture.begin();
    (await asked()).answer(200, chatAnswer());
    await done;
    expect(sink.sent?.status).toBe(200);
  });
});

test('a response that is arriving counts for its account', async () => {
  const { sink, done, asked } = fixture.begin();
  const request = await asked();
  request.head(200);
  request.data(LARGE);
  expect(fixture.gateway.answers.bytes).toBe(LIMITS.answerBytesFree);
  expect(fixture.gateway.answers.take(null, ALONE, 1n)).toBe(false);
  request.data(JSON.stringify(chatAnswer()));
  request.end();
  await done;
  expect(sink.sent?.status).toBe(200);
});
