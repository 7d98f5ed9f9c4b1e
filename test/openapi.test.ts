import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import { generateApi } from 'swagger-typescript-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operationIdOf } from '../src/manage/openapi/management-paths.ts';
import { fullPathOf, PUBLIC_ROUTES } from '../src/manage/openapi/public-paths.ts';
import { inputSchemaOf } from '../src/manage/route.ts';
import { MANAGE_ROUTES } from '../src/manage/routes.ts';
import { SIGN_IN_ROUTES } from '../src/manage/sign-in/routes.ts';
import { EVERY_ROUTE } from './every-route.ts';
import { callsOfEveryRoute } from './openapi/calls.ts';
import { EXAMPLE_ID_PREFIXES, type ExampleServer, isExampleId, startExampleServer } from './openapi/example-server.ts';
import {
  type DescribedRoute,
  type Document,
  type Matchers,
  operationsOf,
  schemasOf,
} from './openapi/response-schemas.ts';
import { ROOT } from './tidy/paths.ts';

let server: ExampleServer;
let text: string;
let document: Document;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-openapi-'));
  server = await startExampleServer();
  text = await (await fetch(`${server.harness.url}/openapi.json`)).text();
  document = JSON.parse(text) as Document;
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function operations(): DescribedRoute[] {
  return operationsOf(document);
}

describe('/openapi.json', () => {
  test('is valid OpenAPI 3.1, and its references lead somewhere', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(text) as Record<string, unknown>)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  test('has every route of both tables, and no other', () => {
    const described = operations().map(({ path, method }) => `${method} ${path}`);
    const served = [
      ...[...MANAGE_ROUTES, ...SIGN_IN_ROUTES].map(({ method, path }) => `${method.toLowerCase()} /manage/v1${path}`),
      ...PUBLIC_ROUTES.map((route) => `${route.method} ${fullPathOf(route)}`),
    ];
    expect(described.toSorted()).toEqual(served.toSorted());
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([
    ['POST', '/keys', 'at least the role owner in the account; members only for what is their own.'],
    ['POST', '/jobs/{job}/cancel', 'at least the role owner in the account; members only for what is their own.'],
    ['GET', '/receipts', 'at least the role viewer in the account; members only for what is their own.'],
    ['GET', '/accounts/{account}/entries', 'at least the role viewer in the account, but not members.'],
    ['GET', '/accounts/{account}/members', 'at least the role owner in the account.'],
  ])('says who may use a route, members too: %s %s', (method, path, who) => {
    const found = operations().find((one) => one.method === method.toLowerCase() && one.path === `/manage/v1${path}`);
    expect(found?.operation).toMatchObject({ description: `Who may: ${who}` });
  });

  test("lists the callers' routes as they are served", () => {
    const served = EVERY_ROUTE.map(({ method, path }) => `${method.toLowerCase()} ${path}`);
    const listed = PUBLIC_ROUTES.map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/, '*')}`);
    expect(listed.toSorted()).toEqual(served.toSorted());
  });

  test('is served without a key, and not sent again while it is unchanged', async () => {
    const first = await fetch(`${server.harness.url}/openapi.json`);
    const etag = first.headers.get('etag')!;
    await first.text();
    const again = await fetch(`${server.harness.url}/openapi.json`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

describe('/docs', () => {
  test('loads only its own files, which are all there', async () => {
    const page = await fetch(`${server.harness.url}/docs`);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    const html = await page.text();
    const linked = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url]) => url!);
    expect(linked).toContain('/docs/page.js');
    for (const url of linked) expect((await fetch(new URL(url, server.harness.url))).status, url).toBe(200);
    expect(linked.filter((url) => !url.startsWith('/'))).toEqual([]);
    expect(html).not.toMatch(/<script(?! src)|\son\w+=|style=/);
  });
});

describe('the examples', () => {
  test('have inputs that their verbs accept', () => {
    const refused = MANAGE_ROUTES.filter((route) => !inputSchemaOf(route).safeParse(route.example.input).success);
    expect(refused.map(operationIdOf)).toEqual([]);
  });

  test('have ids of the right form', () => {
    const names = Object.keys(EXAMPLE_ID_PREFIXES) as (keyof typeof EXAMPLE_ID_PREFIXES)[];
    expect(names.filter((name) => !isExampleId(name))).toEqual([]);
  });

  test('have outputs that match their schemas', () => {
    const matches = schemasOf(document);
    const wrong = operations().flatMap(({ operation: { operationId, responses } }) =>
      Object.entries(responses).flatMap(([status, { content }]) => {
        const example = (content?.['application/json'] ?? content?.['text/event-stream'])?.example;
        return example === undefined ? [] : problems(matches, operationId, status, example);
      }),
    );
    expect(wrong).toEqual([]);
  });

  test('work on a real server, sent by a generated client that compiles, and are answered as described', async () => {
    const calls = await callEverything();
    const matches = schemasOf(document);
    const wrong = calls.flatMap(({ operationId, status, body }) => problems(matches, operationId, status, body));
    expect(wrong).toEqual([]);
    const called = new Set(calls.map(({ operationId }) => operationId));
    // Sign-in exists in hosted mode only and has tests of its own.
    const missing = operations().filter(
      ({ operation }) => !called.has(operation.operationId) && !operation.tags.includes('sign-in'),
    );
    expect(missing).toEqual([]);
  });
});

interface CalledRoute {
  readonly operationId: string;
  readonly status: string;
  readonly body: unknown;
}

/** Generates a client, compiles it with a call of every route, and runs that against the server. */
async function callEverything(): Promise<CalledRoute[]> {
  const input = join(folder, 'openapi.json');
  writeFileSync(input, text);
  const { files } = await generateApi({ input, output: false, silent: true });
  writeFileSync(join(folder, 'Api.ts'), files[0]!.fileContent);
  writeFileSync(join(folder, 'calls.ts'), callsOfEveryRoute(server.ids));
  compile();
  const calls: CalledRoute[] = [];
  const client = (await import(pathToFileURL(join(folder, 'Api.ts')).href)) as {
    Api: new (options: object) => object;
  };
  const { callEveryRoute } = (await import(pathToFileURL(join(folder, 'calls.ts')).href)) as {
    callEveryRoute(api: object, call: (run: () => Promise<unknown>) => Promise<void>): Promise<void>;
  };
  const api = new client.Api({
    baseUrl: server.harness.url,
    baseApiParams: { headers: { authorization: `Bearer ${server.token}` }, format: 'json' },
    customFetch: async (url: string, options: RequestInit) => {
      const { pathname } = new URL(url);
      const isCall = pathname.startsWith('/v1/');
      const headers = new Headers(options.headers);
      if (isCall) headers.delete('authorization');
      const response = await fetch(url, { ...options, headers });
      const operationId = idAt(options.method!, pathname);
      const status = String(response.status);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
        calls.push({ operationId, status, body: await response.clone().json() });
      else {
        // What its events hold is compared with receipts in test/receipt-feed.test.ts.
        const reader = response.body!.getReader();
        const { value } = await reader.read();
        await reader.cancel();
        calls.push({ operationId, status, body: /^event: ready\n/.test(Buffer.from(value!).toString()) });
      }
      return response;
    },
  });
  await callEveryRoute(api, async (run) => {
    // The client rejects a status above 299; what was answered is examined afterwards.
    await run().catch(() => {});
  });
  return calls;
}

function compile(): void {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext'];
  const more = ['--lib', 'es2024,dom', '--allowImportingTsExtensions', '--types', ''];
  try {
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...more, join(folder, 'calls.ts')], {
      cwd: folder,
      stdio: 'pipe',
    });
  } catch (error) {
    throw new Error(`The client does not compile: ${(error as { stdout: Buffer }).stdout}`);
  }
}

function idAt(method: string, pathname: string): string {
  const found = operations().filter(
    ({ path, method: described }) =>
      described === method.toLowerCase() && new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  // A fixed path comes before one with a parameter.
  return found.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)[0]!.operation.operationId;
}

/** Callers' routes get an example with unknown ids and models, or an empty body, which most refuse; it only matters that the routes exist. */
function problems(matchers: Matchers, operationId: string, status: string, body: unknown): object[] {
  if (body === true) return [];
  const { error } = body as { error?: { code: string } };
  if (PUBLIC_ROUTES.some(({ id }) => id === operationId))
    return error?.code === 'unknown_url' || error?.code === 'method_not_allowed' ? [{ operationId, error }] : [];
  const matches = matchers.get(`${operationId} ${status}`);
  if (matches === undefined) return [{ operationId, status, body }];
  return matches(body) ? [] : [{ operationId, status, errors: matches.errors }];
}
