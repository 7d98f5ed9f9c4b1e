import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, expect, it } from 'vitest';
import { ManualClock } from '../../kit/clock.ts';
import { joinPieces, pieceBehindHead } from '../../kit/joined-pieces.ts';
import { LIMITS } from '../../limits.ts';
import type { CountOrder } from '../../money/count-tasks.ts';
import type { PromptCount } from '../../money/counted-bound.ts';
import { TokenCounter } from './token-counter.ts';

const clock = new ManualClock();
const counter = new TokenCounter(clock);
const EXACT: CountOrder = {
  owner: 'key',
  account: 'account',
  encoding: 'o200k_base',
  terms: { exact: true, factor: 1 },
};

// Starting a thread and loading a tokenizer takes a second, so most tests share one.
afterAll(() => counter.close());

function count(texts: readonly string[], order: Partial<CountOrder> = {}): Promise<PromptCount | null> {
  return counter.count({ ...EXACT, ...order }, { texts, toolTexts: [] });
}

async function tokensOf(texts: readonly string[], order: Partial<CountOrder> = {}): Promise<number | undefined> {
  return (await count(texts, order))?.textTokens;
}

it('counts texts exactly and sums them', async () => {
  const texts = ['Hello, world!', 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. 你好 👩‍👩‍👧', ''];
  const expected = texts.reduce((sum, text) => sum + countTokens(text), 0);
  expect(await count(texts)).toEqual({
    fixedTokens: 0,
    scaledTokens: expected,
    likelyTokens: expected,
    textTokens: expected,
  });
});

it('counts a text of several slices and with pieces on every side as one', async () => {
  const text = `  word ${'x'.repeat(200)}\n\n\tlonger words, 12345 `.repeat(400);
  expect(text.length).toBeGreaterThan(5 * LIMITS.tokenCountSliceChars);
  expect(await tokensOf([text])).toBe(countTokens(text));
});

it('knows both encodings', async () => {
  expect(await tokensOf(['안녕하세요'])).toBe(2);
  expect(await tokensOf(['안녕하세요'], { encoding: 'cl100k_base' })).toBe(5);
});

it('counts a token for every digit if the tokenizer is not known, and the rest as without them', async () => {
  const terms = { exact: false, factor: 1 };
  const text = 'On 2026-11-16, 1234567 ferries left pier 9.';
  const digits = text.replace(/\D/g, '').length;
  const groups = 2 + 1 + 1 + 3 + 1;
  expect(await count([text], { terms })).toMatchObject({
    fixedTokens: digits,
    textTokens: countTokens(text) - groups,
  });
  expect(await count(['7'.repeat(1_000)], { terms })).toMatchObject({ fixedTokens: 1_000, scaledTokens: 0 });
});

it('counts the names of special tokens as plain text', async () => {
  expect(await tokensOf(['<|endoftext|>'])).toBeGreaterThan(1);
});

it('counts a piece that is too long to merge in parts, and never as less', async () => {
  const piece = '-='.repeat(2_000);
  const whole = countTokens(piece);
  const counted = await tokensOf([piece]);
  expect(counted).toBeGreaterThanOrEqual(whole);
  expect(counted).toBeLessThan(whole * 1.5);
});

it('does not cut a long piece between the halves of a surrogate pair', async () => {
  const parts = Math.ceil((2 * 1_000) / (LIMITS.tokenCountPieceCharsMax - 1));
  const piece = `a${'𒀀'.repeat(1_000)}`;
  expect(await tokensOf([piece])).toBeLessThanOrEqual(Buffer.byteLength(piece) + parts);
});

it('counts a tool in the form with the most tokens', async () => {
  const tool = '{"description":"Größe \\"in\\" Metern"}';
  const counted = await counter.count(EXACT, { texts: [], toolTexts: [tool] });
  expect(counted?.scaledTokens).toBeGreaterThan(countTokens(tool));
  expect(counted?.scaledTokens).toBeGreaterThanOrEqual(countTokens(JSON.stringify(tool)));
  expect(counted).toMatchObject({ likelyTokens: countTokens(tool), textTokens: 0 });
});

it('reads the texts from a body, and leaves the body as it is', async () => {
  const content = 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.';
  const json = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const whole = Buffer.from(`before ${json} after`);
  const bytes = whole.subarray('before '.length, -' after'.length);
  const counted = await counter.count(EXACT, { wire: 'chat', bytes, chars: content.length });
  expect(counted?.textTokens).toBe(countTokens(content));
  expect(whole.toString()).toBe(`before ${json} after`);
});

it('moves the pieces that a large body arrived in, copies what is not theirs alone, and leaves the body as it is', async () => {
  const content = 'Zwölf Boxkämpfer jagen Viktor. '.repeat(4_000);
  const json = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }));
  const cuts = [0, 30_000, 60_000, 90_000, json.length];
  /** In memory of its own, with this many bytes around it. */
  const pieceOf = (part: number, before: number, behind: number): Buffer => {
    const bytes = json.subarray(cuts[part], cuts[part + 1]);
    const read = Buffer.from(new ArrayBuffer(before + bytes.length + behind)).fill('-');
    read.set(bytes, before);
    return part === 0 ? pieceBehindHead(read, before, json.length) : read.subarray(before, before + bytes.length);
  };
  const pieces = [pieceOf(0, 300, 0), pieceOf(1, 0, 0), pieceOf(2, 7, 0), pieceOf(3, 0, 7)];
  const bytes = joinPieces(pieces);
  const counted = await counter.count(EXACT, { wire: 'chat', bytes, chars: content.length });
  expect(counted?.textTokens).toBe(countTokens(content));
  expect(bytes.equals(json)).toBe(true);
  expect(pieces.map(({ length }) => length)).toEqual([0, 0, 30_000, json.length - 90_000]);
  // The pieces are gone, so the next count copies the body.
  expect(await counter.count(EXACT, { wire: 'chat', bytes, chars: content.length })).toEqual(counted);
  expect(bytes.equals(json)).toBe(true);
});

it('reads no rest of an earlier body from a buffer that is used again', async () => {
  const tokens = [];
  for (const content of ['many words '.repeat(100), 'few words', 'some more words']) {
    const bytes = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }));
    const counted = await counter.count(EXACT, { wire: 'chat', bytes, chars: content.length });
    tokens.push([counted?.textTokens, countTokens(content)]);
  }
  expect(tokens).toEqual(tokens.map(([, expected]) => [expected, expected]));
});

it('returns null for a body that cannot be read, and goes on with the next', async () => {
  for (const body of ['{', '{"messages":[7]}']) {
    expect(await counter.count(EXACT, { wire: 'chat', bytes: Buffer.from(body), chars: 1 })).toBeNull();
  }
  expect(await tokensOf(['Hello'])).toBe(1);
});

it('gives the same answer when it remembers a text, and when another account asks', async () => {
  const texts = ['What is remembered must be as long as this text here is. '.repeat(3)];
  const answers = [];
  for (const account of ['one', 'one', 'two']) answers.push(await count(texts, { account }));
  const exact = await count(texts, { terms: { exact: false, factor: 2 } });
  expect(answers).toEqual([answers[0], answers[0], answers[0]]);
  expect(exact?.scaledTokens).toBe(2 * (answers[0]?.textTokens ?? 0));
});

it('returns null for more text than the limit', async () => {
  const half = 'word '.repeat(LIMITS.tokenCountCharsMax / 10);
  expect(await count([half, half, '.'])).toBeNull();
  expect(await counter.count(EXACT, { texts: [half], toolTexts: [half, '.'] })).toBeNull();
  const bytes = Buffer.from('{"messages":[{"role":"user","content":"Hello"}]}');
  expect(await counter.count(EXACT, { wire: 'chat', bytes, chars: LIMITS.tokenCountCharsMax })).not.toBeNull();
  expect(await counter.count(EXACT, { wire: 'chat', bytes, chars: LIMITS.tokenCountCharsMax + 1 })).toBeNull();
});

it('returns null at the timeout, and goes on with the next count', async () => {
  const late = count(['late']);
  const alsoLate = count(['also late']);
  clock.advance(LIMITS.tokenCountMs);
  expect(await Promise.all([late, alsoLate])).toEqual([null, null]);
  expect(await tokensOf(['Hello'])).toBe(1);
});

it('ends a thread that does not drop a count, and counts again with a new one', async () => {
  const late = count(['late']);
  clock.advance(LIMITS.tokenCountMs + LIMITS.tokenCancelMs);
  expect(await late).toBeNull();
  expect(await tokensOf(['Hello'])).toBe(1);
});

it('returns null at once when too many of an account are waiting, whatever its keys, and still counts other accounts', async () => {
  const waiting = Array.from({ length: LIMITS.tokenCountsPendingPerAccountMax }, (_, key) =>
    tokensOf(['Hello'], { owner: `key ${key}` }),
  );
  expect(await count(['Hello'], { owner: 'another key' })).toBeNull();
  expect(await tokensOf(['Hello'], { account: 'other' })).toBe(1);
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => 1));
  expect(await tokensOf(['Hello'])).toBe(1);
});

it('lets no account take more than a quarter of the text that may wait, and refuses others only when it is full', async () => {
  expect(4 * LIMITS.tokenCountCharsPendingPerAccountMax).toBe(LIMITS.tokenCountCharsPendingMax);
  expect(4 * LIMITS.tokenCountsPendingPerAccountMax).toBe(LIMITS.tokenCountsPendingMax);
  const half = 'word '.repeat(LIMITS.tokenCountCharsMax / 10);
  const waiting: Promise<PromptCount | null>[] = [];
  const fill = (account: string) =>
    waiting.push(...[1, 2].map((key) => count([half, half], { account, owner: `${key}` })));
  for (const account of ['one', 'two', 'three']) {
    fill(account);
    expect(await count(['Hello'], { account, owner: 'third' })).toBeNull();
  }
  expect(await tokensOf(['Hello'], { account: 'other' })).toBe(1);
  fill('four');
  expect(await count(['Hello'], { account: 'other' })).toBeNull();
  await counter.close();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => null));
});

it('gives the place of a cancelled count to others at once', async () => {
  const half = 'word '.repeat(LIMITS.tokenCountCharsMax / 10);
  const late = [1, 2].map(() => count([half, half]));
  expect(await count(['Hello'])).toBeNull();
  clock.advance(LIMITS.tokenCountMs);
  expect(await tokensOf(['Hello'])).toBe(1);
  expect(await Promise.all(late)).toEqual([null, null]);
});

it('lets accounts and keys take turns, so that a short count does not wait for a long one', async () => {
  const order: string[] = [];
  await tokensOf(['warm']);
  const long = tokensOf(['A long text of words. '.repeat(20_000)], { owner: 'long' }).then(() => order.push('long'));
  const short = tokensOf(['Short.'], { owner: 'short' }).then(() => order.push('short'));
  const other = tokensOf(['Short.'], { account: 'other', owner: 'long' }).then(() => order.push('short'));
  await Promise.all([long, short, other]);
  expect(order).toEqual(['short', 'short', 'long']);
});

it('returns null for waiting counts when it is closed', async () => {
  const waiting = count(['Hello']);
  await counter.close();
  expect(await waiting).toBeNull();
});

it('ends its thread when idle, leaves no timer behind, and starts again', async () => {
  expect(await tokensOf(['Hello'])).toBe(1);
  expect(clock.pendingTimers).toBe(1);
  clock.advance(LIMITS.tokenCounterIdleMs);
  expect(clock.pendingTimers).toBe(0);
  expect(await tokensOf(['Hello'])).toBe(1);
});
