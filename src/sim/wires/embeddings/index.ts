import { endlessBody } from '../../endless.ts';
import type { Fields } from '../../fields.ts';
import { jsonReply, type Reply, type SimHost, type SimWire } from '../../reply.ts';
import type { SimScript, UsageFault } from '../../script.ts';
import { countWriter, isWithheld } from '../../usage-fault.ts';
import { errorJson, refusePlainly, usualError } from '../errors.ts';
import { hostHeaders } from '../host-headers.ts';
import { type EmbeddingInput, type EmbeddingsRequest, readEmbeddingsRequest } from './request.ts';
import { embed, encodeBase64 } from './vector.ts';

/** The embeddings wire; it has no streams. */
export const embeddingsWire: SimWire = {
  path: '/v1/embeddings',
  answer: answerEmbeddings,
  refuse: refusePlainly,
  fail: usualError,
};

const LIST_OPENING = '{"object":"list","data":[';

function answerEmbeddings(body: Fields, script: SimScript, host: SimHost): Reply {
  const request = readEmbeddingsRequest(body);
  const headers = hostHeaders(host);
  if (script.endless) {
    const opening = `${LIST_OPENING}{"object":"embedding","index":0,"embedding":[0`;
    return { ...jsonReply(200, '', headers), chunks: endlessBody(opening, ',0.0625'.repeat(16)) };
  }
  const usage = writeUsage(request, script.usage);
  if (script.errorAfterChunks === undefined) {
    return jsonReply(200, writeList(request, isWithheld(script.usage) ? '' : `,"usage":${usage}`), headers);
  }
  const member = script.errorWithUsage ? `,"usage":${usage}` : '';
  return jsonReply(200, `{"error":${errorJson(usualError(500))}${member}}`, headers);
}

function writeList(request: EmbeddingsRequest, usageMember: string): string {
  const data = request.inputs.map((input, index) => writeEmbedding(input, index, request));
  return `${LIST_OPENING}${data.join(',')}],"model":${JSON.stringify(request.model)}${usageMember}}`;
}

function writeEmbedding(
  { key }: EmbeddingInput,
  index: number,
  { model, dimensions, base64 }: EmbeddingsRequest,
): string {
  const vector = embed(model, key, dimensions);
  const embedding = base64 ? `"${encodeBase64(vector)}"` : `[${vector.join(',')}]`;
  return `{"object":"embedding","index":${index},"embedding":${embedding}}`;
}

function writeUsage({ inputs }: EmbeddingsRequest, fault: UsageFault | undefined): string {
  const count = countWriter(fault);
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0);
  return `{"prompt_tokens":${count(tokens)},"total_tokens":${count(tokens)}}`;
}
