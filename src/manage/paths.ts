export const MANAGE_PREFIX = '/manage/v1';
export const CONSOLE_PREFIX = '/console';
export const DOCUMENT_PATH = '/openapi.json';

/** Nearly every request goes there, so it is the first thing to look for. */
const CALLS_PREFIX = '/v1/';

const HTML = 'text/html; charset=utf-8';

/** The files of the page that shows the API, by their paths. */
export const DOCS_FILES: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  '/docs': { file: 'index.html', type: HTML },
  '/docs/': { file: 'index.html', type: HTML },
  '/docs/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
  '/docs/page.css': { file: 'page.css', type: 'text/css; charset=utf-8' },
  '/docs/page.js': { file: 'page.js', type: 'text/javascript; charset=utf-8' },
};

/** Whether a request target is one of the management API or of its pages. */
export function isManagementUrl(url: string): boolean {
  if (url.startsWith(CALLS_PREFIX)) return false;
  if (url.startsWith('/manage/')) return true;
  const path = url.split('?', 1)[0]!;
  return path === DOCUMENT_PATH || Object.hasOwn(DOCS_FILES, path) || isConsolePath(path);
}

export function isConsolePath(path: string): boolean {
  return path === CONSOLE_PREFIX || path.startsWith(`${CONSOLE_PREFIX}/`);
}
