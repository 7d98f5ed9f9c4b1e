import { type AskedUsage, composeAnswer } from '../../answer.ts';
import type { Fields } from '../../fields.ts';
import { countSegments, type Prompt, segmentsOf, windowOf } from '../../prompt.ts';
import { jsonReply, type Reply, refuse, type SimHost, type SimWire } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { dressFrames, STREAM_HEADERS } from '../../sse.ts';
import { countWriter } from '../../usage-fault.ts';
import { refusePlainly, usualError } from '../errors.ts';
import { hostHeaders } from '../host-headers.ts';
import { type ResponsesRequest, readResponsesRequest } from './request.ts';
import { ResponseWriter, writeEndlessResponse, writeResponse } from './response.ts';
import { writeEndlessEvents, writeEvents } from './stream.ts';
import { writeUsage } from './usage.ts';

/** The responses wire as its vendor speaks it, except that nothing is stored. */
export const responsesWire: SimWire = {
  path: '/v1/responses',
  answer: answerResponses,
  refuse: refusePlainly,
  fail: usualError,
};

/** Counts the tokens of a prompt, for free. */
export const inputTokensWire: SimWire = {
  path: '/v1/responses/input_tokens',
  answer: answerCount,
  refuse: refusePlainly,
  fail: usualError,
};

/** Like the vendor, it refuses fields that only an answer needs. */
const ANSWER_FIELDS = ['max_output_tokens', 'store', 'stream', 'include', 'temperature', 'top_p'];

function answerCount(body: Fields, script: SimScript, host: SimHost): Reply {
  const unknown = ANSWER_FIELDS.find((name) => body[name] !== undefined);
  if (unknown !== undefined) refuse('unknown_parameter', unknown, `Unknown parameter: '${unknown}'.`);
  const tokens = countSegments(segmentsOf(readResponsesRequest(body).prompt));
  const counted = `{"object":"response.input_tokens","input_tokens":${countWriter(script.usage)(tokens)}}`;
  return jsonReply(200, counted, hostHeaders(host));
}

function answerResponses(body: Fields, script: SimScript, host: SimHost): Reply {
  const request = readResponsesRequest(body);
  const asked = measurePrompt(request.prompt, host);
  return request.stream ? answerStreamed(request, asked, script, host) : answerBuffered(request, asked, script, host);
}

function measurePrompt(prompt: Prompt, host: SimHost): AskedUsage {
  const segments = segmentsOf(prompt);
  const promptTokens = countSegments(segments);
  if (promptTokens > windowOf(prompt.model)) {
    const message = 'Your input exceeds the context window of this model. Please adjust your input and try again.';
    refuse('context_length_exceeded', 'input', message);
  }
  return { promptTokens, ...host.memory.recall(prompt.model, segments, promptTokens) };
}

function answerBuffered(request: ResponsesRequest, asked: AskedUsage, script: SimScript, host: SimHost): Reply {
  const headers = hostHeaders(host);
  if (script.endless) return { ...jsonReply(200, '', headers), chunks: writeEndlessResponse(request, host) };
  const choice = composeAnswer(request.prompt, script, 1, asked).choices[0]!;
  if (script.errorAfterChunks === undefined) {
    return jsonReply(200, writeResponse(request, choice, asked, script, host), headers);
  }
  const usage = script.errorWithUsage ? writeUsage(asked, choice, script.usage) : 'null';
  const failed = { status: 'failed', output: [], error: usualError(500), usage } as const;
  return jsonReply(200, new ResponseWriter(request, host).write(failed), headers);
}

function answerStreamed(request: ResponsesRequest, asked: AskedUsage, script: SimScript, host: SimHost): Reply {
  const frames = script.endless
    ? writeEndlessEvents(request, asked, script, host)
    : writeEvents(request, composeAnswer(request.prompt, script, 1, asked).choices[0]!, asked, script, host);
  return {
    status: 200,
    headers: { ...STREAM_HEADERS, ...hostHeaders(host) },
    chunks: dressFrames(frames, script),
    streamed: true,
  };
}
