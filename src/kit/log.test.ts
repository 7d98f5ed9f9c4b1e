import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog, errorFields, type LogLevel } from './log.ts';

function logTo(level: LogLevel) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level, destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  return { log, lines };
}

describe('createLog', () => {
  it('writes one JSON line with level, time, fields and message', () => {
    const { log, lines } = logTo('info');
    log.info({ status: 200, route: 'chat' }, 'done');
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        status: 200,
        route: 'chat',
        msg: 'done',
      },
    ]);
  });

  it('leaves out lines below its level', () => {
    const { log, lines } = logTo('warn');
    log.debug({}, 'a');
    log.info({}, 'b');
    log.warn({}, 'c');
    log.error({}, 'd');
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'error']);
  });

  it('writes nothing when silent', () => {
    const { log, lines } = logTo('silent');
    log.error({}, 'a');
    expect(lines).toEqual([]);
  });

  it('writes a line without fields, and leaves out undefined fields', () => {
    const { log, lines } = logTo('info');
    log.info({}, 'bare');
    log.info({ gone: undefined, here: null }, 'half');
    expect(lines.map(({ time: _, ...rest }) => rest)).toEqual([
      { level: 'info', msg: 'bare' },
      { level: 'info', here: null, msg: 'half' },
    ]);
  });

  it('escapes line breaks', () => {
    const { log, lines } = logTo('info');
    log.info({ text: 'two\nlines "quoted"' }, 'a "message"\n');
    expect(lines[0]).toMatchObject({ text: 'two\nlines "quoted"', msg: 'a "message"\n' });
  });

  it('does not throw on fields that cannot be written as JSON', () => {
    const { log, lines } = logTo('info');
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    log.info({ amount: 12n, circular, status: 200 }, 'odd');
    expect(lines[0]).toMatchObject({ amount: '12', status: '200', msg: 'odd' });
  });

  it('writes its buffer to a file on demand', () => {
    const folder = mkdtempSync(join(tmpdir(), 'log-'));
    try {
      const path = join(folder, 'a.log');
      const log = createLog({ level: 'info', destination: path });
      log.info({ n: 1 }, 'one');
      log.info({ n: 2 }, 'two');
      log.flushSync();
      expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(2);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('loses no line when the process ends at once', () => {
    const source = `
      const { createLog } = await import(${JSON.stringify(new URL('./log.ts', import.meta.url).href)});
      const log = createLog({ level: 'info', destination: 1 });
      for (let n = 0; n < 500; n++) log.info({ n }, 'line');
      process.exit(0);`;
    const args = ['--experimental-strip-types', '--no-warnings', '--input-type=module', '--eval', source];
    const written = execFileSync(process.execPath, args, { encoding: 'utf8' });
    expect(written.trim().split('\n')).toHaveLength(500);
  });
});

describe('errorFields', () => {
  it('names the error, its code and its causes', () => {
    const cause = Object.assign(new Error('connect refused'), { code: 'ECONNREFUSED' });
    expect(errorFields(new TypeError('fetch failed', { cause }))).toEqual({
      error: {
        name: 'TypeError',
        message: 'fetch failed',
        cause: { name: 'Error', message: 'connect refused', code: 'ECONNREFUSED' },
      },
    });
  });

  it('gives the stack only when asked', () => {
    const error = new Error('x');
    expect(errorFields(error).error).not.toHaveProperty('stack');
    expect(errorFields(error, { stack: true }).error.stack).toContain('log.test');
  });

  it('shortens long messages and limits the number of causes', () => {
    const loop = new Error('y'.repeat(100_000));
    loop.cause = loop;
    expect(JSON.stringify(errorFields(loop)).length).toBeLessThan(5000);
  });

  it.each([
    ['thrown text', { name: 'string', message: 'thrown text' }],
    [undefined, { name: 'undefined', message: 'undefined' }],
    [Object.create(null), { name: 'object', message: 'A non-Error value was thrown.' }],
  ])('describes %s too', (thrown, expected) => {
    expect(errorFields(thrown)).toEqual({ error: expected });
  });
});
