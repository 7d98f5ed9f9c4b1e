import { describe, expect, test } from 'vitest';
import { mergeScripts, readScript, ScriptError } from './script.ts';
import { ScriptQueue } from './script-queue.ts';

describe('a script', () => {
  test.each([
    [{ dealyMs: 5 }, 'unknown_fault', 'sim.dealyMs'],
    [{ toString: 5 }, 'unknown_fault', 'sim.toString'],
    [{ delayMs: '5' }, 'invalid_fault', 'sim.delayMs'],
    [{ status: 99 }, 'invalid_fault', 'sim.status'],
    [{ status: 600 }, 'invalid_fault', 'sim.status'],
    [{ hang: 'middle' }, 'invalid_fault', 'sim.hang'],
    [{ hang: -1 }, 'invalid_fault', 'sim.hang'],
    [{ cutAtByte: 1.5 }, 'invalid_fault', 'sim.cutAtByte'],
    [{ usage: 'none' }, 'invalid_fault', 'sim.usage'],
    [{ usage: { inflate: '2' } }, 'invalid_fault', 'sim.usage'],
    [{ usage: { inflate: 2, by: 3 } }, 'invalid_fault', 'sim.usage'],
    [{ headers: { 'bad name': 'x' } }, 'invalid_fault', 'sim.headers'],
    [{ headers: { good: 'bad\nvalue' } }, 'invalid_fault', 'sim.headers'],
    [{ commentEvery: 0 }, 'invalid_fault', 'sim.commentEvery'],
    [{ splitBytes: 0 }, 'invalid_fault', 'sim.splitBytes'],
    [{ dribble: 3 }, 'invalid_fault', 'sim.dribble'],
    [{ raw: { base64: '' } }, 'invalid_fault', 'sim.raw'],
    [{ omitDone: 1 }, 'invalid_fault', 'sim.omitDone'],
    [{ gate: '' }, 'invalid_fault', 'sim.gate'],
    [{ errorWithUsage: true }, 'invalid_fault', 'sim.errorWithUsage'],
    [{ cutAtByte: 1, endAtByte: 1 }, 'invalid_fault', 'sim.cutAtByte'],
    [{ text: 'yes', refusal: 'no' }, 'invalid_fault', 'sim.text'],
    [{ omitFinish: true, finish: 'stop' }, 'invalid_fault', 'sim.omitFinish'],
    [{ finish: '' }, 'invalid_fault', 'sim.finish'],
    [[], 'invalid_fault', 'sim'],
    ['hang', 'invalid_fault', 'sim'],
  ])('%j is refused by name', (script, code, param) => {
    const refuse = () => readScript(script);
    expect(refuse).toThrow(ScriptError);
    expect(refuse).toThrow(expect.objectContaining({ code, param }));
  });

  test('of every fault at once, but those that exclude each other, is accepted', () => {
    const script = {
      ...{
        delayMs: 0,
        gateHead: 'h',
        chunkDelayMs: 1,
        gate: 'g',
        status: 500,
        errorBody: null,
        headers: { a: ['b', 'c'] },
      },
      ...{ hang: 3, cutAtByte: 9, usage: { inflate: 1.5 }, errorAfterChunks: 2, errorWithUsage: true, omitDone: true },
      ...{ omitEventNames: true, redactThinking: true },
      ...{ omitFinish: true, crlf: true, commentEvery: 2, splitBytes: 3, words: 5, tokensPerChunk: 1 },
      ...{ raw: { contentType: 'text/plain', base64: 'aGk=' } },
    };
    expect(readScript(script)).toEqual(script);
  });

  test("the request's own faults win, one by one, and drop what they exclude", () => {
    expect(mergeScripts({ delayMs: 1, status: 500 }, { delayMs: 2 })).toEqual({ delayMs: 2, status: 500 });
    expect(mergeScripts({ text: 'hi', endAtByte: 2 }, { words: 5, cutAtByte: 1 })).toEqual({ words: 5, cutAtByte: 1 });
    expect(mergeScripts({ words: 5, cutAtByte: 1 }, { text: 'hi', endAtByte: 2 })).toEqual({
      text: 'hi',
      endAtByte: 2,
    });
  });
});

describe('the book of scripts', () => {
  test('gives counted scripts in order, then the standing one', () => {
    const book = new ScriptQueue();
    book.add({ status: 200 }, {});
    book.add({ status: 500 }, { times: 2 });
    book.add({ status: 429 }, { times: 1 });
    const statuses = [1, 2, 3, 4, 5].map(() => book.take('m').status);
    expect(statuses).toEqual([500, 500, 429, 200, 200]);
  });

  test('keeps the scripts of one model from the calls of another', () => {
    const book = new ScriptQueue();
    book.add({ status: 500 }, { times: 1, model: 'a' });
    book.add({ status: 401 }, { model: 'a' });
    book.add({ status: 404 }, {});
    expect([book.take('b').status, book.take(null).status]).toEqual([404, 404]);
    expect([book.take('a').status, book.take('a').status]).toEqual([500, 401]);
    book.withdraw('a');
    expect(book.take('a').status).toBe(404);
    book.withdraw(undefined);
    expect(book.take('a')).toEqual({});
  });
});
