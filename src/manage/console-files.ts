import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { headerLines } from '../http1/headers.ts';
import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { CONSOLE_PREFIX } from './paths.ts';

const FOLDER = new URL('../../dist/console/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};
const NOT_BUILT =
  'The console is not built. Run `npm run console:build` in the folder of Tollgate, and load this page again.\n';

interface ConsoleFile {
  readonly type: string;
  readonly body: Buffer;
  /** Null for what is compressed already. */
  readonly gzipped: Buffer | null;
}

/** Where an HTML page has the nonce of its response, and the mode of the gateway. */
const NONCE = '%NONCE%';
const MODE = '%GATEWAY_MODE%';

export type ConsoleMode = 'local' | 'hosted';

/**
 * The web console: static files that are read when they are first asked for, and then kept. Every other path below
 * `/console` is a page of the console, which finds out by itself what to show.
 */
export class ConsoleFiles {
  readonly #mode: ConsoleMode;
  readonly #folder: URL;
  readonly #files = new Map<string, ConsoleFile>();
  /** Read at the first request, so that the start does not wait for it. */
  #names: ReadonlySet<string> | null = null;
  #page: string | null = null;

  constructor(mode: ConsoleMode, folder: URL = FOLDER) {
    this.#mode = mode;
    this.#folder = folder;
  }

  answer(request: InboundRequest, response: OutboundResponse, path: string, requestId: string): void {
    if (!request.complete) response.closes = true;
    const name = path.slice(CONSOLE_PREFIX.length + 1);
    const file = name.startsWith('assets/') ? this.#file(name) : null;
    if (file !== null) sendFile(request, response, file, requestId);
    else if (name.startsWith('assets/')) sendText(response, 404, 'There is no such file.\n', requestId);
    else this.#sendPage(response, requestId);
  }

  #sendPage(response: OutboundResponse, requestId: string): void {
    this.#page ??= this.#read('index.html')?.toString() ?? null;
    if (this.#page === null) {
      sendText(response, 503, NOT_BUILT, requestId);
      return;
    }
    const nonce = randomBytes(16).toString('base64');
    const body = Buffer.from(this.#page.replaceAll(NONCE, nonce).replace(MODE, this.#mode));
    const lines = headerLines({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-gateway-request-id': requestId,
      'content-security-policy': contentSecurityPolicy(nonce),
      ...SAFETY,
    });
    response.head(200, lines, body.length);
    response.end(body);
  }

  /** Only names that the build made: nothing that a request says becomes a path. */
  #file(name: string): ConsoleFile | null {
    const known = this.#files.get(name);
    if (known !== undefined) return known;
    this.#names ??= namesIn(this.#folder);
    if (!this.#names.has(name)) return null;
    const body = this.#read(name);
    if (body === null) return this.#forget();
    const gzipped = this.#names.has(`${name}.gz`) ? this.#read(`${name}.gz`) : null;
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    const file: ConsoleFile = { type, body, gzipped };
    this.#files.set(name, file);
    return file;
  }

  #read(name: string): Buffer | null {
    const url = new URL(name, this.#folder);
    return existsSync(url) ? readFileSync(url) : null;
  }

  /** The console was built again, or an upgrade replaced it: whoever loads the page again gets the new one. */
  #forget(): null {
    this.#names = null;
    this.#page = null;
    this.#files.clear();
    return null;
  }
}

const SAFETY = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** Nothing from elsewhere, no inline script; a style element only with the nonce of this response. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "font-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function namesIn(folder: URL): ReadonlySet<string> {
  const assets = new URL('assets/', folder);
  return new Set(existsSync(assets) ? readdirSync(assets).map((name) => `assets/${name}`) : []);
}

/** The name of an asset has a hash of its content, so a browser never has to ask for it again. */
function sendFile(
  { headers }: InboundRequest,
  response: OutboundResponse,
  { type, body, gzipped }: ConsoleFile,
  requestId: string,
): void {
  const isGzipped = gzipped !== null && /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  const content = isGzipped ? gzipped : body;
  const lines = headerLines({
    'content-type': type,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-gateway-request-id': requestId,
    ...(gzipped === null ? {} : { vary: 'accept-encoding' }),
    ...(isGzipped ? { 'content-encoding': 'gzip' } : {}),
    ...SAFETY,
  });
  response.head(200, lines, content.length);
  response.end(content);
}

function sendText(response: OutboundResponse, status: number, text: string, requestId: string): void {
  const lines = headerLines({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-gateway-request-id': requestId,
    ...SAFETY,
  });
  response.head(status, lines, Buffer.byteLength(text));
  response.end(text);
}
