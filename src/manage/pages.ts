import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { headerLines } from '../http1/headers.ts';
import type { InboundRequest, OutboundResponse } from '../http1/server.ts';
import { ConsoleFiles, type ConsoleMode } from './console-files.ts';
import { openapiDocument } from './openapi/document.ts';
import { DOCS_FILES, DOCUMENT_PATH, isConsolePath } from './paths.ts';

/** A file that anybody may read: it holds nothing secret. */
interface Page {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

const FOLDER = new URL('../../public/docs/', import.meta.url);

/** The page loads nothing from elsewhere and runs no script but its own. */
const SAFETY = {
  'content-security-policy': "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** `/openapi.json`, the page that shows it, and the console. Each file is read once, when it is first asked for. */
export class PublicPages {
  readonly #console: ConsoleFiles;
  readonly #pages = new Map<string, Page>();
  readonly #version: string;
  readonly #managePrefix: string;

  constructor(version: string, managePrefix: string, mode: ConsoleMode) {
    this.#console = new ConsoleFiles(mode);
    this.#version = version;
    this.#managePrefix = managePrefix;
  }

  /** False, without an answer, if there is no such page. */
  answer(request: InboundRequest, response: OutboundResponse, requestId: string): boolean {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const path = request.url.split('?', 1)[0]!;
    if (isRead && isConsolePath(path)) {
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
    if (path === DOCUMENT_PATH)
      return pageOf('application/json', Buffer.from(openapiDocument(this.#version, this.#managePrefix)));
    const found = Object.hasOwn(DOCS_FILES, path) ? DOCS_FILES[path]! : null;
    return found === null ? null : pageOf(found.type, readFileSync(new URL(found.file, FOLDER)));
  }
}

function pageOf(type: string, body: Buffer): Page {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, body, etag };
}
