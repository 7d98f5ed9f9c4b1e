import { parentPort } from 'node:worker_threads';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { WireName } from '../../canonical/wire-names.ts';
import { giveBackWhenIdle } from '../../kit/idle-memory.ts';
import { type CountOrder, CountTasks } from '../../money/count-tasks.ts';
import type { PromptCount } from '../../money/counted-bound.ts';
import { promptTexts } from '../../wires/prompt-texts.ts';
import { readBody } from '../read-call.ts';

export interface CountRequest extends CountOrder {
  readonly id: number;
  readonly prompt: PromptTexts | SentBody;
}

/** A request body that the main thread has accepted. */
export interface SentBody {
  readonly wire: WireName;
  readonly parts: readonly SentPart[];
}

export interface SentPart {
  readonly buffer: ArrayBuffer;
  /** Where the part is in the buffer: there may be the head of its request before it, or an earlier body behind it. */
  readonly start: number;
  readonly bytes: number;
  /** It goes back with the answer, to be used again. */
  readonly isSpare: boolean;
}

/** Ends a request early; it is answered with null. */
export interface CountCancellation {
  readonly cancel: number;
}

export interface CountAnswer {
  readonly id: number;
  /** Null if no count was possible. */
  readonly count: PromptCount | null;
  /** Buffers that came with the request. */
  readonly spare: readonly ArrayBuffer[];
  /** Texts whose counts the thread remembers. */
  readonly textsKept: number;
}

/** The spare buffers of requests that are not answered yet. */
const buffers = new Map<number, ArrayBuffer[]>();
const tasks = new CountTasks(answer);
if (parentPort !== null) giveBackWhenIdle();

parentPort?.on('message', (message: CountRequest | CountCancellation) => {
  if ('cancel' in message) {
    tasks.cancel(message.cancel);
    return;
  }
  const { id, prompt } = message;
  const isBody = 'parts' in prompt;
  if (isBody)
    buffers.set(
      id,
      prompt.parts.flatMap(({ buffer, isSpare }) => (isSpare ? [buffer] : [])),
    );
  tasks.add({ ...message, readTexts: () => (isBody ? textsOf(prompt) : prompt) });
});

function textsOf({ wire, parts }: SentBody): PromptTexts {
  const pieces = parts.map(({ buffer, start, bytes }) => Buffer.from(buffer, start, bytes));
  return promptTexts(wire, readBody(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
}

function answer(id: number, count: PromptCount | null): void {
  const spare = buffers.get(id) ?? [];
  buffers.delete(id);
  parentPort?.postMessage({ id, count, spare, textsKept: tasks.textsKept } satisfies CountAnswer, spare);
}
