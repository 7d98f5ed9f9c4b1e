import type { UsageReading } from '../../canonical/usage.ts';
import { type JsonText, readJson } from '../../kit/json.ts';
import { isAbsent, isCount, isObject, type Members, objectsIn } from '../members.ts';
import { readHostError } from '../read-host-error.ts';
import { type Bill, type BufferedAnswer, HostAnswerBroken, type RelayTerms } from '../wire.ts';
import { decodeVector, encodeVector, reduceVector } from './vectors.ts';

type Format = 'float' | 'base64';

/** What the caller asked for; the host may have given something else. */
interface Wanted {
  readonly format: Format;
  readonly dimensions: number | null;
}

/** The host's bytes with `model` and `usage` replaced, unless its vectors must be recoded, cut or put in order. */
export function readAnswer(body: Buffer, terms: RelayTerms): BufferedAnswer {
  const text = parse(body);
  const answer = text.value as Members;
  const rows = objectsIn(answer.data);
  const wanted = wantedBy(terms.request);
  const vectors = rows
    .toSorted((a, b) => Number(a.index) - Number(b.index))
    .map((row) => convert(row.embedding, wanted));
  const isAsWanted = rows.every((row, at) => row.index === at && row.embedding === vectors[at]);
  const usage = readUsage(answer.usage);
  return {
    usage,
    relayedBytes: 0,
    write: (bill) => {
      const written = usageText(bill);
      const model = JSON.stringify(terms.catalogModel);
      if (isAsWanted) return text.edit().set(['model'], model).set(['usage'], written).apply();
      const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
      return Buffer.from(`{"object":"list","data":${JSON.stringify(data)},"model":${model},"usage":${written}}`);
    },
  };
}

function parse(body: Buffer): JsonText {
  const broken = 'The host answered with something that is no list of embeddings.';
  let text: JsonText;
  try {
    text = readJson(body);
  } catch {
    throw new HostAnswerBroken(broken);
  }
  if (isObject(text.value) && objectsIn(text.value.data).length > 0) return text;
  throw new HostAnswerBroken(broken, isObject(text.value) && text.value.error ? readHostError(500, body) : null);
}

function wantedBy(request: unknown): Wanted {
  const body = isObject(request) ? request : {};
  return {
    format: body.encoding_format === 'base64' ? 'base64' : 'float',
    dimensions: isAbsent(body.dimensions) ? null : (body.dimensions as number),
  };
}

/** The vector as it is when nothing is to be done, so that its bytes can pass. */
function convert(embedding: unknown, { format, dimensions }: Wanted): unknown {
  const isBase64 = typeof embedding === 'string';
  const vector = isBase64 ? decodeVector(embedding) : Array.isArray(embedding) ? embedding : null;
  if (vector === null || vector.length === 0)
    throw new HostAnswerBroken('The host sent an embedding that is no vector.');
  const reduced = dimensions !== null && vector.length > dimensions ? reduceVector(vector, dimensions) : vector;
  if (reduced === vector && isBase64 === (format === 'base64')) return embedding;
  return format === 'base64' ? encodeVector(reduced) : Array.from(reduced);
}

/** Input only; one vendor gives nothing but the total. */
export function readUsage(raw: unknown): UsageReading {
  if (!isObject(raw)) return { state: 'missing' };
  const tokens = raw.prompt_tokens ?? raw.total_tokens;
  if (!isCount(tokens)) return { state: 'missing', defect: "the host's prompt tokens are no count" };
  return { state: 'reported', usage: { ...NO_TOKENS, freshTokens: tokens } };
}

const NO_TOKENS = {
  freshTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

function usageText({ usage, costUsd, costNanousd }: Bill): string {
  const tokens = usage.freshTokens + usage.cacheReadTokens;
  return `{"prompt_tokens":${tokens},"total_tokens":${tokens},"cost":${JSON.stringify(costUsd)},"cost_nanousd":${costNanousd}}`;
}
