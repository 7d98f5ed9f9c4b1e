import { inputTokens, MISSING_USAGE, type UsageReading, ZERO_USAGE } from '../../canonical/usage.ts';
import { type JsonText, readJson } from '../../json/json.ts';
import type { Bill } from '../bill.ts';
import { readErrorMember } from '../errors/read-host-error.ts';
import { HOST_MEMBERS, isUsableId } from '../fields/host-members.ts';
import { isAbsent, isCount, isObject, type Members, objectsIn } from '../fields/members.ts';
import { countTextInputs } from '../fields/text-inputs.ts';
import { withCost } from '../usage/prompt-usage.ts';
import { type BufferedResponse, HostResponseBroken, type RelayTerms } from '../wire.ts';
import { encodeVector, readVector, reduceVector } from './vectors.ts';

/** What the caller asked for; the host may have sent something else. */
interface Wanted {
  readonly base64: boolean;
  readonly dimensions: number | null;
}

/** The host's own bytes with `model` and `usage` replaced; rebuilt if vectors must be recoded, shortened or reordered. */
export function spliceResponse(body: Buffer, terms: RelayTerms): BufferedResponse {
  const text = parse(body);
  const answer = text.value as Members;
  const request = isObject(terms.request) ? terms.request : {};
  const rows = inOrder(objectsIn(answer.data));
  if (rows.length !== countTextInputs(request.input))
    throw new HostResponseBroken('The host sent a different number of vectors than requested.');
  const wanted = wantedBy(request);
  const embeddings = rows.map((row) => convert(row.embedding, wanted));
  const isAsWanted =
    answer.object === 'list' && objectsIn(answer.data).every((row, at) => isRow(row, at, embeddings[at]));
  const model = JSON.stringify(terms.catalogModel);
  const rewritten = isAsWanted ? null : listText(embeddings, model);
  return {
    usage: readUsage(answer.usage),
    relayedBytes: 0,
    write: (bill) => {
      if (rewritten !== null) return Buffer.from(`${rewritten}${usageText(bill)}}`);
      const edit = text.edit().set(['model'], model).set(['usage'], usageText(bill));
      for (const name of HOST_MEMBERS) edit.remove([name]);
      if (!isUsableId(answer.id)) edit.remove(['id']);
      return edit.apply();
    },
  };
}

function parse(body: Buffer): JsonText {
  const broken = "The host's response is not a list of embeddings.";
  let text: JsonText;
  try {
    text = readJson(body);
  } catch {
    throw new HostResponseBroken(broken);
  }
  const error = isObject(text.value) ? text.value.error : null;
  if (isObject(text.value) && objectsIn(text.value.data).length > 0 && !isObject(error)) return text;
  throw new HostResponseBroken(broken, error ? readErrorMember(error) : null);
}

/** Sorts rows by their index; rows without any index are already in the order of the inputs. */
function inOrder(rows: readonly Members[]): readonly Members[] {
  if (rows.every(({ index }) => isAbsent(index))) return rows;
  const ordered: Members[] = [];
  for (const row of rows) {
    if (!isCount(row.index) || row.index >= rows.length || ordered[row.index] !== undefined) {
      throw new HostResponseBroken('The host sent vectors with invalid or repeated indexes.');
    }
    ordered[row.index] = row;
  }
  return ordered;
}

function wantedBy({ encoding_format: format, dimensions }: Members): Wanted {
  return { base64: format === 'base64', dimensions: isAbsent(dimensions) ? null : (dimensions as number) };
}

/** Returns the vector itself if nothing has to change, so that its bytes can be kept. */
function convert(embedding: unknown, { base64, dimensions }: Wanted): unknown {
  const vector = readVector(embedding);
  if (vector === null) throw new HostResponseBroken('The host sent an embedding that is not a vector.');
  if (dimensions !== null && vector.length < dimensions) {
    throw new HostResponseBroken('The host sent a vector that is shorter than requested.');
  }
  const reduced = dimensions !== null && vector.length > dimensions ? reduceVector(vector, dimensions) : vector;
  if (reduced === vector && base64 === (typeof embedding === 'string')) return embedding;
  return base64 ? encodeVector(reduced) : Array.from(reduced);
}

function isRow({ object, index, embedding }: Members, at: number, wanted: unknown): boolean {
  return object === 'embedding' && index === at && embedding === wanted;
}

/** The list without its usage, which is known only after billing. */
function listText(embeddings: readonly unknown[], model: string): string {
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return `{"object":"list","data":${JSON.stringify(data)},"model":${model},"usage":`;
}

/** Only input is counted; one vendor sends only the total. */
export function readUsage(raw: unknown): UsageReading {
  if (isAbsent(raw)) return MISSING_USAGE;
  const tokens = isObject(raw) ? (raw.prompt_tokens ?? raw.total_tokens) : null;
  if (!isCount(tokens)) return { state: 'missing', defect: "the host's prompt tokens are not a valid count" };
  return { state: 'reported', usage: { ...ZERO_USAGE, freshTokens: tokens } };
}

function usageText(bill: Bill): string {
  const tokens = inputTokens(bill.usage);
  return withCost({ prompt_tokens: tokens, total_tokens: tokens }, bill);
}
