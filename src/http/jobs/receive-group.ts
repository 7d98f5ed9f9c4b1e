import { createHash, type Hash } from 'node:crypto';
import { GatewayError } from '../../canonical/errors.ts';
import { readBody } from '../../gateway/read-call.ts';
import type { Accepted, GroupRequest, JobGroup, JobTerms, Submission } from '../../jobs/jobs.ts';
import { atLine } from '../../jobs/refusals.ts';
import { stringifyJson } from '../../json/stringify.ts';
import { LIMITS } from '../../limits.ts';
import type { BodyLine } from '../body-lines.ts';
import { invalid, missing } from '../field-errors.ts';
import { readQuery, withPlus } from '../query-parameters.ts';
import type { IncomingBody, PlainRequest } from '../routes.ts';
import { asObject, type Fields, readTerms, refuseUnknown, TERM_FIELDS } from './read-fields.ts';
import { readLine } from './read-submission.ts';
import { checkWebhook, type JobRouteServices } from './route-services.ts';

/** Metadata is an object, so it cannot be in a query. */
const QUERY_FIELDS = TERM_FIELDS.filter((name) => name !== 'metadata');
const GROUP_FIELDS = ['requests', ...TERM_FIELDS];
const LINE_LIMITS = {
  bytesMax: LIMITS.groupBytesMax,
  linesMax: LIMITS.groupLinesMax,
  lineBytesMax: LIMITS.groupLineBytesMax,
  sliceLines: LIMITS.jobSliceLinesMax,
  sliceBytes: LIMITS.jobSliceBytesMax,
  unreadBytesMax: LIMITS.groupUnreadBytesMax,
};

/** Lines in slices; an empty slice is the end. */
interface LineSource {
  next(): Promise<readonly BodyLine[]>;
}

/** Takes in a group while its body arrives: every line is checked and stored, and then all become jobs, or none. */
export async function receiveGroup(
  services: JobRouteServices,
  request: PlainRequest,
  submission: Submission,
): Promise<Accepted<JobGroup>> {
  const incoming = request.incoming!;
  const givePlaceBack = services.intakePlaces.take(submission.caller.accountId);
  try {
    const { terms, lines } = await openLines(services, request, incoming);
    await checkWebhook(services, submission.caller, terms.webhook);
    return await storeLines(services, submission, terms, lines);
  } finally {
    givePlaceBack();
  }
}

const JSONL_TYPE = /^application\/(?:jsonl|x-jsonlines|x-ndjson)[ \t]*(?:;.*)?$/i;

async function openLines(
  { clock }: JobRouteServices,
  { headers, query }: PlainRequest,
  incoming: IncomingBody,
): Promise<{ terms: JobTerms; lines: LineSource }> {
  const inQuery = readQueryFields(query);
  if (JSONL_TYPE.test(headers['content-type'] ?? ''))
    return { terms: readTerms(inQuery, clock.nowMs()), lines: incoming.lines(LINE_LIMITS) };
  const { fields, lines } = await readWholeGroup(incoming).catch((error: unknown) => {
    throw withLinesNamed(error);
  });
  const twice = Object.keys(inQuery).find((name) => name in fields);
  if (twice !== undefined) throw invalid(twice, 'must be in the query or in the body, not in both');
  return { terms: readTerms({ ...inQuery, ...fields }, clock.nowMs()), lines };
}

function readQueryFields(query: string): Fields {
  const given = Object.fromEntries(readQuery(query, QUERY_FIELDS));
  const { result_ttl_seconds: ttl, not_before: notBefore, expires_at: expiresAt } = given;
  return {
    ...given,
    ...(notBefore !== undefined && { not_before: withPlus(notBefore) }),
    ...(expiresAt !== undefined && { expires_at: withPlus(expiresAt) }),
    ...(ttl !== undefined && { result_ttl_seconds: /^\d{1,9}$/.test(ttl) ? Number(ttl) : ttl }),
  };
}

/** A batch file that is sent as plain JSON, or as something else, is an easy mistake. */
function withLinesNamed(error: unknown): unknown {
  const isMistaken = error instanceof GatewayError && MISTAKEN.includes(error.kind);
  if (!isMistaken) return error;
  return error.with({ message: `${error.message} For a batch file, send \`content-type: application/jsonl\`.` });
}

const MISTAKEN = ['invalid_request_body', 'unsupported_media_type'];

/** A group in one JSON object. Each request in it becomes a line, in the bytes that the client sent. */
async function readWholeGroup(incoming: IncomingBody): Promise<{ fields: Fields; lines: LineSource }> {
  const text = readBody(await incoming.whole(LIMITS.requestBodyBytesMax));
  const fields = asObject(text.value);
  if (fields === null)
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `requests`.',
    });
  refuseUnknown(fields, GROUP_FIELDS, 'A group');
  const { requests } = fields;
  if (requests === undefined || requests === null) throw missing('requests', 'list the requests of the group');
  if (!Array.isArray(requests)) throw invalid('requests', 'must be a list');
  const { groupLinesMax } = LIMITS;
  if (requests.length > groupLinesMax) throw invalid('requests', `must have at most ${groupLinesMax} entries`);
  let at = 0;
  const next = async (): Promise<BodyLine[]> => {
    const slice: BodyLine[] = [];
    for (; at < requests.length && slice.length < LIMITS.jobSliceLinesMax; at++) {
      const { start, end } = text.locate(['requests', at])!;
      slice.push({ number: at + 1, bytes: text.bytes.subarray(start, end) });
    }
    return slice;
  };
  return { fields, lines: { next } };
}

async function storeLines(
  services: JobRouteServices,
  submission: Submission,
  terms: JobTerms,
  lines: LineSource,
): Promise<Accepted<JobGroup>> {
  const intake = await services.jobs.openGroup(submission, terms);
  const hashed = new HashedLines(lines, `/v1/jobs/groups\n${stringifyJson(terms)}\n`);
  const customIds = new Map<string, number>();
  try {
    for (let slice = await hashed.next(); slice !== null; slice = await hashed.next()) {
      await intake.add(readRequests(services, slice, customIds));
    }
    if (customIds.size === 0)
      throw new GatewayError('invalid_request_body', { message: 'The group has no requests. Send at least one line.' });
    return await intake.accept(await hashed.digest());
  } catch (refusal) {
    await intake.abandon();
    const accepted = await findRepeated(services, submission, hashed);
    if (accepted === null) throw refusal;
    return { accepted, replayed: true };
  }
}

/** The group that the same lines made before, under the same idempotency key; null if there is none. */
async function findRepeated(
  { jobs }: JobRouteServices,
  submission: Submission,
  lines: HashedLines,
): Promise<JobGroup | null> {
  if (!(await jobs.isKeyUsed(submission))) return null;
  const bodySha256 = await lines.digest().catch(() => null);
  return bodySha256 === null ? null : jobs.findRepeatedGroup({ ...submission, bodySha256 });
}

/** The lines of a group, hashed as they are read. */
class HashedLines {
  readonly #lines: LineSource;
  readonly #hash: Hash;
  #slice: readonly BodyLine[] = [];
  /** The next line of the slice. */
  #at = 0;
  #isOver = false;

  constructor(lines: LineSource, before: string) {
    this.#lines = lines;
    this.#hash = createHash('sha256').update(before);
  }

  /** Null at the end. */
  async next(): Promise<Iterable<BodyLine> | null> {
    if (this.#isOver) return null;
    this.#slice = await this.#lines.next();
    this.#at = 0;
    this.#isOver = this.#slice.length === 0;
    return this.#isOver ? null : this.#each();
  }

  *#each(): Iterable<BodyLine> {
    while (this.#at < this.#slice.length) {
      const line = this.#slice[this.#at++]!;
      this.#hash.update(line.bytes).update('\n');
      yield line;
    }
  }

  /** Reads what is left, and returns the hash of all lines. */
  async digest(): Promise<Uint8Array> {
    for (let slice: Iterable<BodyLine> | null = this.#each(); slice !== null; slice = await this.next())
      for (const _ of slice);
    return this.#hash.digest();
  }
}

/** Reads a line when the intake asks for it, so that its pauses for live calls come between lines. */
function* readRequests(
  { endpoints }: JobRouteServices,
  slice: Iterable<BodyLine>,
  customIds: Map<string, number>,
): Iterable<GroupRequest> {
  for (const { number, bytes } of slice) yield readNumbered(number, bytes, endpoints, customIds);
}

function readNumbered(
  line: number,
  bytes: Buffer,
  endpoints: readonly string[],
  customIds: Map<string, number>,
): GroupRequest {
  try {
    const request = readLine(bytes, endpoints);
    const before = customIds.get(request.customId);
    if (before !== undefined) throw invalid('custom_id', `is the same as that of line ${before}; each must be unique`);
    customIds.set(request.customId, line);
    return { ...request, line };
  } catch (error) {
    throw atLine(line, error);
  }
}
