import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERROR_TABLE, type ErrorName, GatewayError } from '../src/canonical/errors.ts';
import { type Harness, type MintedKey, startHarness } from './harness.ts';
import { shapeOf } from './shape-of.ts';

/** Checks docs/api.md against the program: sends its examples and compares its table. */

const PAGE = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');

interface Section {
  readonly method: string;
  readonly path: string;
  readonly request: unknown;
  readonly answer: unknown;
}

function readSections(): Section[] {
  return [...PAGE.matchAll(/^## `(GET|POST) (\S+)`$([\s\S]*?)(?=^## )/gm)].map(
    ([, method = '', path = '', text = '']) => ({
      method,
      path,
      request: blockOf(text, 'request'),
      answer: blockOf(text, 'answer'),
    }),
  );
}

function blockOf(text: string, name: string): unknown {
  const json = new RegExp(`^\`\`\`json ${name}$([\\s\\S]*?)^\`\`\`$`, 'm').exec(text)?.[1];
  return json === undefined ? null : JSON.parse(json);
}

let harness: Harness;
let caller: MintedKey;
let requestId: string;

beforeAll(async () => {
  harness = await startHarness({ hosted: true });
  caller = await harness.mint({ capNanousd: 5_000_000n, capWindow: 'day' });
  const ask = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], user: 'ada' };
  const response = await harness.post(ask, { ...bearer(), 'idempotency-key': 'order-1234' });
  requestId = response.headers.get('x-gateway-request-id')!;
});
afterAll(() => harness.stop());

const bearer = () => ({ authorization: `Bearer ${caller.secret}` });

function send({ method, path, request }: Section): Promise<Response> {
  return method === 'GET'
    ? harness.get(path.replace('{request_id}', requestId).replace('{model}', 'sim-claude'), bearer())
    : harness.post(request, bearer(), path);
}

describe('the page of bodies', () => {
  test('has all that is ours', () => {
    expect(readSections().map(({ path }) => path)).toEqual([
      '/v1/balance',
      '/v1/models/{model}',
      '/v1/receipts',
      '/v1/receipts/{request_id}',
      '/v1/usage',
      '/v1/quote',
      '/v1/systemone',
      '/v1/decisions',
    ]);
  });

  test.each(readSections())('$method $path answers as it shows', async (section) => {
    const response = await send(section);
    expect(response.status).toBe(200);
    expect(shapeOf(await response.json())).toEqual(shapeOf(section.answer));
  });
});

describe('the table of errors', () => {
  const rows = PAGE.slice(PAGE.indexOf('## Errors'))
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));

  test('has every error of the program, in order of status, with what it says of trying again', () => {
    const told = rows.map(([, status, type, code, again]) => `${status} ${type} ${code} ${again}`);
    const known = (Object.keys(ERROR_TABLE) as ErrorName[]).map((name) => {
      const { status, type, code, mustNotRetry } = new GatewayError(name, { message: '' });
      return `${status} ${type} ${code} ${mustNotRetry ? 'no' : 'yes'}`;
    });
    expect(told.toSorted()).toEqual(known.toSorted());
    expect(rows.map(([, status]) => status)).toEqual(rows.map(([, status]) => status).toSorted());
  });
});
