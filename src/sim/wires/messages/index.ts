import type { IncomingHttpHeaders } from 'node:http';
import { composeAnswer } from '../../answer.ts';
import type { Fields } from '../../fields.ts';
import { countSegments, windowOf } from '../../prompt.ts';
import { jsonReply, type Reply, type SimHost, type SimWire } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { dressFrames, STREAM_HEADERS } from '../../sse.ts';
import { countWriter } from '../../usage-fault.ts';
import { errorJson, refuseMessages, reject, usualError } from './errors.ts';
import { vendorHeaders } from './headers.ts';
import { type Spoken, writeEndlessMessage, writeMessage } from './message.ts';
import { type MessagesRequest, readCountedPrompt, readMessagesRequest } from './request.ts';
import { writeEndlessEvents, writeEvents } from './stream.ts';
import { type AskedTokens, writeFinalUsage } from './usage.ts';

/** The messages wire as its vendor speaks it. */
export const messagesWire: SimWire = {
  path: '/v1/messages',
  answer: answerMessages,
  refuse: refuseMessages,
  fail: usualError,
};

/** Counts the tokens of a prompt, for free. */
export const countTokensWire: SimWire = {
  path: '/v1/messages/count_tokens',
  answer: answerCount,
  refuse: refuseMessages,
  fail: usualError,
};

function answerMessages(body: Fields, script: SimScript, host: SimHost, headers: IncomingHttpHeaders): Reply {
  const request = readMessagesRequest(body, headers);
  const asked = measurePrompt(request, host);
  return request.stream ? answerStreamed(request, asked, script, host) : answerBuffered(request, asked, script, host);
}

function answerCount(body: Fields, script: SimScript, host: SimHost, headers: IncomingHttpHeaders): Reply {
  const tokens = countSegments(readCountedPrompt(body, headers).segments);
  return jsonReply(200, `{"input_tokens":${countWriter(script.usage)(tokens)}}`, vendorHeaders(host));
}

function measurePrompt({ prompt, transcript }: MessagesRequest, host: SimHost): AskedTokens {
  const { segments, breakpoints } = transcript;
  const promptTokens = countSegments(segments);
  const windowTokens = windowOf(prompt.model);
  if (promptTokens > windowTokens) reject(`prompt is too long: ${promptTokens} tokens > ${windowTokens} maximum`);
  return { promptTokens, ...host.memory.recallMarked(prompt.model, segments, breakpoints) };
}

function speak(request: MessagesRequest, asked: AskedTokens, script: SimScript): Spoken {
  const { prompt } = request;
  const choice = composeAnswer(prompt, script, 1, asked).choices[0]!;
  const roomTokens = windowOf(prompt.model) - asked.promptTokens;
  return { request, asked, choice, windowIsFull: roomTokens < (prompt.outputTokensMax ?? roomTokens) };
}

function answerBuffered(request: MessagesRequest, asked: AskedTokens, script: SimScript, host: SimHost): Reply {
  const headers = vendorHeaders(host);
  if (script.endless) return { ...jsonReply(200, '', headers), chunks: writeEndlessMessage(request, host) };
  const spoken = speak(request, asked, script);
  if (script.errorAfterChunks === undefined) return jsonReply(200, writeMessage(spoken, script, host), headers);
  const usage = script.errorWithUsage ? `,"usage":${writeFinalUsage(asked, spoken.choice, script.usage)}` : '';
  return jsonReply(200, errorJson(529, usualError(529).message, usage), headers);
}

function answerStreamed(request: MessagesRequest, asked: AskedTokens, script: SimScript, host: SimHost): Reply {
  const frames = script.endless
    ? writeEndlessEvents(request, asked, script, host)
    : writeEvents(speak(request, asked, script), script, host);
  return {
    status: 200,
    headers: { ...STREAM_HEADERS, ...vendorHeaders(host) },
    chunks: dressFrames(frames, script),
    streamed: true,
  };
}
