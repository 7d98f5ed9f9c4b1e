import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleTypes } from '../scripts/console-types.ts';
import type { InboundRequest, OutboundResponse } from '../src/http1/server.ts';
import { ConsoleFiles } from '../src/manage/console-files.ts';

const SCRIPT = 'export const page = 1;\n'.repeat(100);

interface Sent {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** Asks for a path without a port. */
function ask(files: ConsoleFiles, path: string, headers: Record<string, string> = {}): Sent {
  const sent: Sent = { status: 0, headers: {}, body: Buffer.alloc(0) };
  const response = {
    closes: false,
    head: (status: number, lines: string) => {
      sent.status = status;
      sent.headers = Object.fromEntries(
        lines
          .trim()
          .split('\r\n')
          .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
    },
    end: (bytes: Buffer | string) => {
      sent.body = Buffer.from(bytes);
    },
  };
  const request = { method: 'GET', url: path, headers, complete: true };
  files.answer(request as unknown as InboundRequest, response as unknown as OutboundResponse, path, 'req_1');
  return sent;
}

describe('the files of the console', () => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-console-'));
  const folder = join(root, 'console');
  const built = new ConsoleFiles('hosted', pathToFileURL(`${folder}/`));

  beforeAll(() => {
    mkdirSync(join(folder, 'assets'), { recursive: true });
    writeFileSync(
      join(folder, 'index.html'),
      '<meta name="tollgate-mode" content="%GATEWAY_MODE%"><meta name="csp-nonce" content="%NONCE%"><style nonce="%NONCE%"></style>',
    );
    writeFileSync(join(folder, 'assets/index-AbC1.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/index-AbC1.js.gz'), gzipSync(SCRIPT));
    writeFileSync(join(root, 'secret.txt'), 'secret');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  test('serves the page for every path that is not an asset, and never lets it be stored', () => {
    for (const path of ['/console', '/console/', '/console/keys', '/console/join']) {
      const { status, headers } = ask(built, path);
      expect([status, headers['cache-control'], headers['content-type']]).toEqual([
        200,
        'no-store',
        'text/html; charset=utf-8',
      ]);
    }
  });

  test('allows no inline script, and styles only with a nonce that is new in each response', () => {
    const nonces = [1, 2].map(() => {
      const { headers, body } = ask(built, '/console');
      const policy = headers['content-security-policy']!;
      const [, nonce] = /style-src 'self' 'nonce-([^']+)'/.exec(policy)!;
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toContain('unsafe');
      expect(body.toString()).toContain(`content="${nonce}"><style nonce="${nonce}">`);
      return nonce;
    });
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  test('says in which mode the gateway is', () => {
    expect(ask(built, '/console').body.toString()).toContain('<meta name="tollgate-mode" content="hosted">');
  });

  test('lets assets be kept for ever, and sends them compressed to browsers that accept it', () => {
    const plain = ask(built, '/console/assets/index-AbC1.js');
    const packed = ask(built, '/console/assets/index-AbC1.js', { 'accept-encoding': 'br, gzip' });
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect([plain.headers['content-encoding'], packed.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(packed.headers.vary).toBe('accept-encoding');
    expect([plain.body.toString(), gunzipSync(packed.body).toString()]).toEqual([SCRIPT, SCRIPT]);
  });

  test('serves no file that the build did not make', () => {
    for (const path of ['assets/../../secret.txt', 'assets/%2e%2e/secret.txt', 'assets/nothing.js', 'assets/'])
      expect(ask(built, `/console/${path}`).status).toBe(404);
    expect(ask(built, '/console/../secret.txt').body.toString()).not.toContain('secret');
  });

  test('answers 404 for a file that was replaced while the gateway runs, and then serves the new page', () => {
    const place = join(root, 'built-again');
    const build = (name: string): void => {
      rmSync(place, { recursive: true, force: true });
      mkdirSync(join(place, 'assets'), { recursive: true });
      writeFileSync(join(place, 'index.html'), name);
      for (const part of ['index', 'keys']) writeFileSync(join(place, `assets/${part}-${name}.js`), SCRIPT);
    };
    const files = new ConsoleFiles('hosted', pathToFileURL(`${place}/`));
    const statusOf = (path: string): number => ask(files, `/console/${path}`).status;
    build('old');
    expect([statusOf('keys'), statusOf('assets/index-old.js')]).toEqual([200, 200]);
    build('new');
    expect(statusOf('assets/keys-old.js')).toBe(404);
    expect(ask(files, '/console/keys').body.toString()).toBe('new');
    expect([statusOf('assets/index-new.js'), statusOf('assets/keys-new.js')]).toEqual([200, 200]);
  });

  test('says which command builds it if it is not there', () => {
    const { status, body } = ask(new ConsoleFiles('hosted', pathToFileURL(`${root}/nowhere/`)), '/console');
    expect([status, body.toString()]).toEqual([503, expect.stringContaining('npm run console:build')]);
  });
});

test('the types of the console are those of the management API', () => {
  const written = readFileSync(new URL('../console/src/api/generated/routes.ts', import.meta.url), 'utf8');
  expect(written, 'Run: npm run console:types').toBe(consoleTypes());
});
