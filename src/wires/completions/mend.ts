import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { extraContent } from './extra-content.ts';
import { isFailure, mendFinishReason } from './finish-reason.ts';
import { isEmptyChoice, mendChoice, put, removeHostMembers } from './mend-choice.ts';
import { StreamState } from './stream-state.ts';

/** Repairs every frame; a frame that needs no repair is passed on byte for byte. Never throws. */
class MendedStream extends StreamState implements StreamRelay {
  frame(frame: SseFrame): Buffer | string | null {
    return this.terminal ? null : this.#read(frame);
  }

  #read(frame: SseFrame): Buffer | string | null {
    const data = frame.data?.trim() ?? '';
    if (data === '') return null;
    if (data === '[DONE]') return this.noteEnd();
    const chunk = tryParseJson(data);
    if (!isObject(chunk)) return this.fail('the host sent a frame that is not a JSON object');
    if (chunk.error) return this.fail(chunk.error, chunk);
    if (frame.event === 'error') return this.fail(chunk, chunk);
    const choices = objectsIn(chunk.choices);
    const broken = choices.find((choice) => isFailure(choice.finish_reason));
    if (broken !== undefined) return this.fail(broken.error ?? 'the host aborted its response', chunk);
    if (choices.length > 0) return this.#mend(chunk, choices, frame);
    this.noteUsage(chunk);
    return null;
  }

  #mend(chunk: Members, choices: Members[], frame: SseFrame): Buffer | string | null {
    let changed = false;
    let hasBegun = false;
    let bytes = 0;
    for (const choice of choices) {
      const { index, isNew } = this.begin(choice.index);
      hasBegun ||= isNew;
      changed = mendChoice(choice, index, this.terms.hideReasoning) || changed;
      changed = this.#mendFinish(choice, index) || changed;
      bytes += Buffer.byteLength(choice.text as string);
    }
    if (bytes > 0) this.noteWords(bytes);
    const hasUsage = this.noteUsage(chunk);
    changed = this.#mendChunk(chunk, choices) || changed;
    const extra = extraContent(chunk, choices);
    this.relayedBytes += extra;
    if (changed && !hasBegun && choices.every(isEmptyChoice)) return null;
    const written = !changed && isPlain(frame) ? null : `data: ${JSON.stringify(chunk)}\n\n`;
    if (hasBegun) this.known?.forget();
    else if (!hasUsage && extra === 0) this.#learn(frame, written, choices);
    return written ?? frame.raw;
  }

  /** Learns only frames that neither begin nor end a choice: those depend on what came before. */
  #learn({ raw }: SseFrame, written: string | null, choices: readonly Members[]): void {
    const choice = choices[0]!;
    if (choices.length === 1 && choice.finish_reason === null) this.known?.learn(raw, written, choice);
  }

  /** Sent once per choice; null before. */
  #mendFinish(choice: Members, index: number): boolean {
    const said = choice.finish_reason;
    if (said === null) return false;
    const reason = mendFinishReason(said);
    choice.finish_reason = reason !== null && this.finish(index) ? reason : null;
    return choice.finish_reason !== said;
  }

  #mendChunk(chunk: Members, choices: Members[]): boolean {
    const { catalogModel, wantsUsageFrame } = this.terms;
    let changed = this.mendIdentity(chunk);
    changed = removeHostMembers(chunk) || changed;
    if (choices.length !== (chunk.choices as unknown[]).length) changed = put(chunk, 'choices', choices);
    if (chunk.model !== catalogModel) changed = put(chunk, 'model', catalogModel);
    // A frame with choices has no usage; clients that asked for the usage frame expect `null` here.
    const usage = wantsUsageFrame ? null : undefined;
    return chunk.usage === usage ? changed : put(chunk, 'usage', usage);
  }
}

const PLAIN_FRAME_BYTES = 'data: \n\n'.length;

/** Whether the frame is a single data line, so that it can be passed on unchanged. */
function isPlain({ raw, data }: SseFrame): boolean {
  return raw.length === Buffer.byteLength(data ?? '') + PLAIN_FRAME_BYTES;
}

export function mendStream(terms: RelayTerms): StreamRelay {
  return new MendedStream(terms);
}
