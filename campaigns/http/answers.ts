/** One response as it arrived. */
export interface Answer {
  readonly status: number;
  /** Names in lower case; if a name is repeated, the last value counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Answers {
  readonly complete: readonly Answer[];
  /** What is left: the start of another response, or invalid bytes. */
  readonly rest: string;
}

/** All complete responses of one connection; `closed` says that nothing more will come. */
export function readAnswers(text: string, closed: boolean): Answers {
  const complete: Answer[] = [];
  let rest = text;
  for (;;) {
    const next = readOne(rest, closed);
    if (next === null) return { complete, rest };
    if (next.answer.status >= 200) complete.push(next.answer);
    rest = next.rest;
  }
}

function readOne(text: string, closed: boolean): { answer: Answer; rest: string } | null {
  const split = text.indexOf('\r\n\r\n');
  if (split === -1) return null;
  const [line = '', ...lines] = text.slice(0, split).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return null;
  const headers = Object.fromEntries(lines.map(headerOf));
  const after = text.slice(split + 4);
  const length = bodyLength(status, headers, after, closed);
  if (length === null || after.length < length) return null;
  return { answer: { status, headers, body: after.slice(0, length) }, rest: after.slice(length) };
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Null until the body is complete. */
function bodyLength(
  status: number,
  headers: Readonly<Record<string, string>>,
  after: string,
  closed: boolean,
): number | null {
  // A response to HEAD names a length but has no body.
  if (status < 200 || status === 204 || status === 304 || (closed && after === '')) return 0;
  if (headers['content-length'] !== undefined) return Number(headers['content-length']);
  if (headers['transfer-encoding'] !== undefined) {
    const end = after.indexOf('\r\n0\r\n\r\n');
    return end === -1 ? null : end + '\r\n0\r\n\r\n'.length;
  }
  return closed ? after.length : null;
}
