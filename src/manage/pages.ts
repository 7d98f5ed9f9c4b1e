import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { headerLines } from '../http1/headers.ts';
import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { ConsoleFiles } from './console-files.ts';
import { openapiDocument } from './openapi/document.ts';

/** A file that anybody may read: it holds nothing secret. */
interface Page {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

const FOLDER = new URL('../../public/docs/', import.meta.url);

const DOCUMENT = '/openapi.json';
const HTML = 'text/html; charset=utf-8';
const FILES: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  '/docs': { file: 'index.html', type: HTML },
  '/docs/': { file: 'index.html', type: HTML },
  '/docs/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
  '/docs/page.css': { file: 'page.css', type: 'text/css; charset=utf-8' },
  '/docs/page.js': { file: 'page.js', type: 'text/javascript; charset=utf-8' },
};

/** The page loads nothing from elsewhere and runs no script but its own. */
const SAFETY = {
  'content-security-policy': "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** `/openapi.json`, the page that shows it, and the console. Each file is read once, when it is first asked for. */
export class PublicPages {
  readonly #console = new ConsoleFiles();
  readonly #pages = new Map<string, Page>();
  readonly #version: string;
  readonly #managePrefix: string;

  constructor(version: string, managePrefix: string) {
    this.#version = version;
    this.#managePrefix = managePrefix;
  }

  has(url: string): boolean {
    const path = url.split('?', 1)[0]!;
    return path === DOCUMENT || Object.hasOwn(FILES, path) || this.#console.has(path);
  }

  /** False, without an answer, if there is no such page. */
  answer(request: InboundRequest, response: OutboundResponse, requestId: string): boolean {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const path = request.url.split('?', 1)[0]!;
    if (isRead && this.#console.has(path)) {
      this.#console.answer(request, response, path, requestId);
      return true;
    }
    const page = isRead ? this.#page(path) : null;
    if (page === null) return false;
    const isKnown = request.headers['if-none-match'] === page.etag;
    const lines = headerLines({
      'content-type': page.type,
      etag: page.etag,
      'cache-control': 'no-cache',
      'x-gateway-request-id': requestId,
      ...SAFETY,
    });
    if (!request.complete) response.closes = true;
    response.head(isKnown ? 304 : 200, lines, isKnown ? null : page.body.length);
    if (isKnown) response.end();
    else response.end(page.body);
    return true;
  }

  #page(path: string): Page | null {
    const known = this.#pages.get(path);
    if (known !== undefined) return known;
    const page = this.#make(path);
    if (page !== null) this.#pages.set(path, page);
    return page;
  }

  #make(path: string): Page | null {
    if (path === DOCUMENT)
      return pageOf('application/json', Buffer.from(openapiDocument(this.#version, this.#managePrefix)));
    const found = Object.hasOwn(FILES, path) ? FILES[path]! : null;
    return found === null ? null : pageOf(found.type, readFileSync(new URL(found.file, FOLDER)));
  }
}

function pageOf(type: string, body: Buffer): Page {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, body, etag };
}
