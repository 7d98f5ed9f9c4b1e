import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { OutboundResponse } from '../../http1/server.ts';
import { LIMITS } from '../../limits.ts';
import { CallerSlots } from '../caller-slots.ts';
import { listOf, nanousd, seconds } from '../schema-fields.ts';
import { columnsOf, headLine, rowLine } from './columns.ts';
import { rowSchemaOf } from './format.ts';
import { type ListExport, type RowPage, sendList } from './send-list.ts';

const ROW = z.object({
  id: z.string(),
  name: z.string(),
  cost_nanousd: nanousd.nullable(),
  parts: z.object({ output: nanousd }).nullable(),
  labels: z.record(z.string(), z.string()),
  host: z.string(),
});
const row = { id: 'a', name: 'x', cost_nanousd: 5n, parts: { output: -1_500_000_000n }, labels: {}, host: 'h' };

describe('a CSV file', () => {
  const columns = columnsOf(ROW);

  test('has a column for each member, and dollars beside nanodollars', () => {
    expect(headLine(columns)).toBe('id,name,cost_nanousd,cost_usd,parts.output,parts.output_usd,labels,host\r\n');
    expect(rowLine(columns, row)).toBe('a,x,5,0.000000005,-1500000000,-1.500000000,{},h\r\n');
  });

  test('has moments in UTC beside seconds, whatever the schema adds to them', () => {
    const times = columnsOf(
      z.object({ at: seconds, ended: seconds.describe('When it ended.').nullable(), in: z.int() }),
    );
    expect(headLine(times)).toBe('at,at_utc,ended,ended_utc,in\r\n');
    const row = { at: 1_790_000_000, ended: null, in: 1_790_000_000 };
    expect(rowLine(times, row)).toBe('1790000000,2026-09-21T14:13:20Z,,,1790000000\r\n');
    expect(rowLine(times, { ...row, at: Number.MAX_SAFE_INTEGER })).toMatch(/^9007199254740991,,,,/);
  });

  test('leaves cells empty for what is null, also inside of an object that is', () => {
    expect(rowLine(columns, { ...row, cost_nanousd: null, parts: null })).toBe('a,x,,,,,{},h\r\n');
  });

  test('quotes commas, quotes and line breaks as RFC 4180 says', () => {
    const labels = { team: 'a,b' };
    expect(rowLine(columns, { ...row, name: 'a "b",\r\nc', labels })).toContain('a,"a ""b"",\r\nc",5,');
    expect(rowLine(columns, { ...row, labels })).toContain(',"{""team"":""a,b""}",h');
  });

  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1'])('does not let a spreadsheet run %j as a formula', (name) => {
    expect(rowLine(columns, { ...row, name })).toContain(`a,'${name},5`);
  });

  test('has no column for what its reader may not see', () => {
    expect(headLine(columnsOf(ROW, ['host', 'parts']))).toBe('id,name,cost_nanousd,cost_usd,labels\r\n');
  });

  test('is offered for lists only', () => {
    expect(rowSchemaOf({ response: listOf(ROW) })).toBe(ROW);
    expect(rowSchemaOf({ response: ROW })).toBeNull();
  });
});

/** A client that has room for this many bytes until it reads again. */
function slowClient(roomBytes: number) {
  let pending = 0;
  const client = {
    destroyed: false,
    ended: false,
    bytes: 0,
    mostPending: 0,
    onDrain: null as (() => void) | null,
    onClose: null as (() => void) | null,
    head: () => {},
    write(text: string): boolean {
      pending += text.length;
      client.bytes += text.length;
      client.mostPending = Math.max(client.mostPending, pending);
      return pending < roomBytes;
    },
    end(text = '') {
      client.write(text);
      client.ended = true;
    },
    readAll() {
      pending = 0;
      client.onDrain?.();
    },
    leave() {
      client.destroyed = true;
      client.onClose?.();
    },
  };
  return client;
}

function listOfPages(pages: number): { list: ListExport; read: number[] } {
  const read: number[] = [];
  const pageAt = (at: number): RowPage => {
    read.push(at);
    return { data: [row, row], next: at + 1 < pages ? String(at + 1) : null };
  };
  const list: ListExport = {
    format: 'jsonl',
    name: 'rows',
    row: ROW,
    hidden: [],
    first: pageAt(0),
    more: async (after) => pageAt(Number(after)),
  };
  return { list, read };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('sending a list', () => {
  test('reads no further page while the client does not read', async () => {
    const { list, read } = listOfPages(1_000);
    const client = slowClient(1);
    const sent = sendList(list, client as unknown as OutboundResponse, 'req_1');
    await settle();
    expect(read).toEqual([0]);
    for (let turns = 0; turns < 2_000 && !client.ended; turns++) {
      client.readAll();
      await settle();
    }
    await sent;
    expect([read.length, client.ended]).toEqual([1_000, true]);
    expect(client.mostPending).toBeLessThan(client.bytes / 900);
  });

  test('stops when the client is gone', async () => {
    const { list, read } = listOfPages(1_000);
    const client = slowClient(1);
    const sent = sendList(list, client as unknown as OutboundResponse, 'req_1');
    await settle();
    client.leave();
    await sent;
    expect([read, client.ended]).toEqual([[0], false]);
  });

  test('goes on over empty pages', async () => {
    const pages: RowPage[] = [
      { data: [], next: 'b' },
      { data: [row], next: null },
    ];
    const client = slowClient(1_000_000);
    const list = { ...listOfPages(1).list, first: pages[0]!, more: async () => pages[1]! };
    await sendList(list, client as unknown as OutboundResponse, 'req_1');
    expect([client.ended, client.bytes > 0]).toEqual([true, true]);
  });
});

test('a caller has a bounded number of exports under way, and others are not affected', () => {
  const slots = new CallerSlots({ what: 'exports', perCallerMax: LIMITS.managementExportsMax });
  const actor = { kind: 'management_key' as const, id: 1n, name: 'ci', address: null };
  const ends = Array.from({ length: LIMITS.managementExportsMax }, () => slots.take(actor));
  expect(() => slots.take(actor)).toThrow('exports run at once');
  slots.take({ ...actor, id: 2n })();
  ends[0]!();
  expect(() => slots.take(actor)).not.toThrow();
});
