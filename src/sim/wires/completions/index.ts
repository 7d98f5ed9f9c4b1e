import type { Fields } from '../../fields.ts';
import { jsonReply, type Reply, type SimHost, type SimWire } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { dressFrames, STREAM_HEADERS } from '../../sse.ts';
import { errorJson, refusePlainly, usualError } from '../errors.ts';
import { hostHeaders } from '../host-headers.ts';
import { composeCompletions } from './answers.ts';
import { writeCompletions, writeEndlessCompletion } from './buffered.ts';
import { type CompletionsRequest, readCompletionsRequest } from './request.ts';
import { writeChunks, writeEndlessChunks } from './stream.ts';
import { writeUsage } from './usage.ts';

/** The legacy text-completions wire. */
export const completionsWire: SimWire = {
  path: '/v1/completions',
  answer: answerCompletions,
  refuse: refusePlainly,
  fail: usualError,
};

function answerCompletions(body: Fields, script: SimScript, host: SimHost): Reply {
  const request = readCompletionsRequest(body);
  return request.stream ? answerStreamed(request, script, host) : answerBuffered(request, script, host);
}

function answerBuffered(request: CompletionsRequest, script: SimScript, host: SimHost): Reply {
  const headers = hostHeaders(host);
  if (script.endless) return { ...jsonReply(200, '', headers), chunks: writeEndlessCompletion(request, host) };
  const completions = composeCompletions(request, script);
  if (script.errorAfterChunks === undefined) {
    return jsonReply(200, writeCompletions(request, completions, script, host), headers);
  }
  const { promptTokens, outputTokens } = completions;
  const usage = script.errorWithUsage ? `,"usage":${writeUsage(promptTokens, outputTokens, script.usage)}` : '';
  return jsonReply(200, `{"error":${errorJson(usualError(500))}${usage}}`, headers);
}

function answerStreamed(request: CompletionsRequest, script: SimScript, host: SimHost): Reply {
  const frames = script.endless
    ? writeEndlessChunks(request, script, host)
    : writeChunks(request, composeCompletions(request, script), script, host);
  return {
    status: 200,
    headers: { ...STREAM_HEADERS, ...hostHeaders(host) },
    chunks: dressFrames(frames, script),
    streamed: true,
  };
}
