import { type AskedUsage, composeAnswer } from '../../answer.ts';
import { countSegments, type Prompt, segmentsOf, windowOf } from '../../prompt.ts';
import { jsonReply, type Reply, refuse, type SimHost, type SimWire } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { dressFrames, STREAM_HEADERS } from '../../sse.ts';
import { errorJson, refusePlainly, usualError } from '../errors.ts';
import { hostHeaders } from '../host-headers.ts';
import { writeCompletion, writeEndlessCompletion } from './buffered.ts';
import { type ChatRequest, readChatRequest } from './request.ts';
import { writeChunks, writeEndlessChunks } from './stream.ts';
import { writeUsage } from './usage.ts';

/** The chat-completions wire as its first vendor speaks it. */
export const chatWire: SimWire = {
  path: '/v1/chat/completions',
  answer: answerChat,
  refuse: refusePlainly,
  fail: usualError,
};

function answerChat(body: Record<string, unknown>, script: SimScript, host: SimHost): Reply {
  const request = readChatRequest(body);
  const asked = measurePrompt(request.prompt, host);
  const headers = hostHeaders(host);
  if (request.stream) return answerStreamed(request, asked, script, host, headers);
  return answerBuffered(request, asked, script, host, headers);
}

function measurePrompt(prompt: Prompt, host: SimHost): AskedUsage {
  const segments = segmentsOf(prompt);
  const promptTokens = countSegments(segments);
  const windowTokens = windowOf(prompt.model);
  if (promptTokens > windowTokens) {
    const message =
      `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ` +
      `${promptTokens} tokens. Please reduce the length of the messages.`;
    refuse('context_length_exceeded', 'messages', message);
  }
  return { promptTokens, ...host.memory.recall(prompt.model, segments, promptTokens) };
}

type Headers = Record<string, string>;

function answerBuffered(
  request: ChatRequest,
  asked: AskedUsage,
  script: SimScript,
  host: SimHost,
  headers: Headers,
): Reply {
  if (script.endless) {
    return { ...jsonReply(200, '', headers), chunks: writeEndlessCompletion(request, host) };
  }
  const answer = composeAnswer(request.prompt, script, request.choices, asked);
  if (script.errorAfterChunks === undefined)
    return jsonReply(200, writeCompletion(request, answer, script, host), headers);
  const usage = script.errorWithUsage ? `,"usage":${writeUsage(answer.usage, script.usage)}` : '';
  return jsonReply(200, `{"error":${errorJson(usualError(500))}${usage}}`, headers);
}

function answerStreamed(
  request: ChatRequest,
  asked: AskedUsage,
  script: SimScript,
  host: SimHost,
  headers: Headers,
): Reply {
  const frames = script.endless
    ? writeEndlessChunks(request, script, host)
    : writeChunks(request, composeAnswer(request.prompt, script, request.choices, asked), script, host);
  return {
    status: 200,
    headers: { ...STREAM_HEADERS, ...headers },
    chunks: dressFrames(frames, script),
    streamed: true,
  };
}
