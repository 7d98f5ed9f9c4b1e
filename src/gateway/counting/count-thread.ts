import { parentPort } from 'node:worker_threads';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { WireName } from '../../canonical/wire-names.ts';
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
  /** Goes back with the answer. */
  readonly buffer: ArrayBuffer;
  /** The length of the body; what follows it in the buffer is left from an earlier one. */
  readonly bytes: number;
}

/** Ends a request early; it is answered with null. */
export interface CountCancellation {
  readonly cancel: number;
}

export interface CountAnswer {
  readonly id: number;
  /** Null if no count was possible. */
  readonly count: PromptCount | null;
  /** The buffer that came with the request. */
  readonly buffer: ArrayBuffer | null;
}

/** The buffers of requests that are not answered yet. */
const buffers = new Map<number, ArrayBuffer>();
const tasks = new CountTasks(answer);

parentPort?.on('message', (message: CountRequest | CountCancellation) => {
  if ('cancel' in message) {
    tasks.cancel(message.cancel);
    return;
  }
  const { id, prompt } = message;
  if ('buffer' in prompt) buffers.set(id, prompt.buffer);
  tasks.add({ ...message, readTexts: () => ('buffer' in prompt ? textsOf(prompt) : prompt) });
});

function textsOf({ wire, buffer, bytes }: SentBody): PromptTexts {
  return promptTexts(wire, readBody(Buffer.from(buffer, 0, bytes)));
}

function answer(id: number, count: PromptCount | null): void {
  const buffer = buffers.get(id) ?? null;
  buffers.delete(id);
  parentPort?.postMessage({ id, count, buffer } satisfies CountAnswer, buffer === null ? [] : [buffer]);
}
