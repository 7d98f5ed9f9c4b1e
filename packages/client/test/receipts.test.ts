import { expect, test } from 'vitest';
import { createClient, type Receipt } from '../src/index.ts';

const stored = (id: string) => ({ id, requested_model: 'a', effective_model: 'a', cost_nanousd: 5 });

/** A gateway whose receipts come in these pages. */
function clientOf(pages: readonly object[]) {
  const paths: string[] = [];
  const fetch = async (input: string | URL | Request) => {
    paths.push(String(input).replace('http://gateway.example', ''));
    return Response.json(pages[paths.length - 1]);
  };
  return { client: createClient({ baseURL: 'http://gateway.example', fetch }), paths };
}

async function idsOf(receipts: AsyncIterable<Receipt>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { requestId } of receipts) ids.push(requestId);
  return ids;
}

test('receipts are read page after page, also after an empty one', async () => {
  const { client, paths } = clientOf([
    { data: [stored('req_4'), stored('req_3')], has_more: true, next: 'p2' },
    { data: [], has_more: true, next: 'p3' },
    { data: [stored('req_1')], has_more: false, next: null },
  ]);
  expect(await idsOf(client.receipts({ since: '2027-01-01', limit: 2 }))).toEqual(['req_4', 'req_3', 'req_1']);
  expect(paths).toEqual(['', '&after=p2', '&after=p3'].map((after) => `/v1/receipts?since=2027-01-01&limit=2${after}`));
});

test('receipts that are not wanted are not asked for', async () => {
  const { client, paths } = clientOf([{ data: [stored('req_4')], next: 'p2' }]);
  for await (const { costNanousd } of client.receipts()) {
    expect(costNanousd).toBe(5n);
    break;
  }
  expect(paths).toEqual(['/v1/receipts?']);
});

test('a chain has the receipts of all pages', async () => {
  const { client, paths } = clientOf([
    { data: [stored('req_2')], next: 'p2' },
    { data: [stored('req_1')], next: null },
  ]);
  expect((await client.chain('c 1')).map(({ requestId }) => requestId)).toEqual(['req_2', 'req_1']);
  expect(paths).toEqual(['/v1/receipts?chain=c+1', '/v1/receipts?chain=c+1&after=p2']);
});
