import { tryParseJson } from '../../json/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { extraContent } from './extra-content.ts';
import { isFailure } from './finish-reason.ts';
import { type ChoiceState, fillArguments, isEmptyChoice, mendChoice } from './mend-choice.ts';
import { modelBytes } from './mend-text.ts';
import { exactResponse } from './mend-tool-calls.ts';
import { removeHostMembers, removeUsage } from './quirks.ts';
import { StreamState } from './stream-state.ts';

/** Repairs every frame; a frame that needs no repair is passed on byte for byte. Never throws. */
class MendedStream extends StreamState implements StreamRelay {
  frame(frame: SseFrame): Buffer | string | null {
    if (this.terminal) return null;
    try {
      return this.#read(frame);
    } catch (error) {
      return this.fail((error as Error).message);
    }
  }

  #read(frame: SseFrame): Buffer | string | null {
    const data = frame.data?.trim() ?? '';
    if (data === '') return null;
    if (data === '[DONE]') return this.noteEnd();
    const chunk = exactResponse(tryParseJson(data), data);
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
    const { hideReasoning, catalogModel } = this.terms;
    const begunBefore = this.begun;
    const wasOpen = this.isOpen;
    let changed = false;
    let bytes = 0;
    for (const choice of choices) {
      const state = this.choiceAt(choice.index);
      changed = this.#mendChoice(choice, state) || changed;
      bytes += modelBytes(choice.delta as Members);
      changed = fillArguments(choice, state) || changed;
    }
    const hasContent = bytes > 0 || (changed && hideReasoning);
    if (hasContent) this.noteWords(bytes);
    const hasUsage = this.noteUsage(chunk);
    changed = this.#mendChunk(chunk, choices) || changed;
    const extra = extraContent(chunk, choices);
    this.relayedBytes += extra;
    const hasBegun = this.begun !== begunBefore;
    if (changed && !hasBegun && choices.every(isEmptyChoice)) return null;
    const isRight = !changed && chunk.model === catalogModel && isPlain(frame);
    chunk.model = catalogModel;
    const written = isRight ? null : `data: ${JSON.stringify(chunk)}\n\n`;
    if (hasBegun) this.known?.forget();
    if (!hasUsage && extra === 0) {
      if (begunBefore === 0 && !hasContent) this.learnOpening(frame, written);
      else if (!hasBegun && bytes > 0) this.#learn(frame, written, choices);
      else if (!hasBegun && wasOpen && !hasContent) this.learnEnd(frame, written);
    }
    return written ?? frame.raw;
  }

  #mendChoice(choice: Members, state: ChoiceState): boolean {
    return mendChoice(choice, state, this.terms.hideReasoning, (position) => this.#mintId(state, position));
  }

  /** Ids must differ between the choices too. */
  #mintId({ index }: ChoiceState, position: number): string {
    return `call_${this.terms.requestId}_${index === 0 ? '' : `${index}_`}${position}`;
  }

  #mendChunk(chunk: Members, choices: Members[]): boolean {
    let changed = this.mendIdentity(chunk);
    changed = removeHostMembers(chunk) || changed;
    if (choices.length !== (chunk.choices as unknown[]).length) {
      chunk.choices = choices;
      changed = true;
    }
    for (const choice of choices) changed = removeUsage(choice) || changed;
    return this.#mendNulls(chunk) || changed;
  }

  /** A frame with choices never has usage. Null members are removed, because clients of aggregators reject them. */
  #mendNulls(chunk: Members): boolean {
    const isUnnamed = chunk.system_fingerprint === null;
    if (isUnnamed) chunk.system_fingerprint = undefined;
    if (chunk.usage === undefined) return isUnnamed;
    chunk.usage = undefined;
    return true;
  }

  /** Learns only frames that neither begin nor end a choice: those depend on what came before. */
  #learn(frame: SseFrame, written: string | null, choices: readonly Members[]): void {
    const choice = choices[0]!;
    if (choices.length !== 1 || choice.finish_reason !== null) return;
    const delta = choice.delta as Members;
    if (delta.tool_calls !== undefined && namesCall(frame)) return;
    this.learn(frame, written, delta);
  }
}

/** Whether the host's frame says which call it belongs to: the same bytes may then mean another call later on. */
function namesCall({ data }: SseFrame): boolean {
  const chunk = tryParseJson(data ?? '');
  const [choice] = objectsIn(isObject(chunk) ? chunk.choices : null);
  const [call] = objectsIn(isObject(choice?.delta) ? choice.delta.tool_calls : null);
  const named = isObject(call?.function) ? call.function.name : undefined;
  return isText(call?.id) || isText(named);
}

const OPENING = Buffer.from('data: ');
const CLOSING = Buffer.from('\n\n');

/** Whether the frame is a single data line, so that it can be passed on unchanged. */
function isPlain({ raw, data }: SseFrame): boolean {
  if (raw.length !== OPENING.length + Buffer.byteLength(data ?? '') + CLOSING.length) return false;
  return raw.indexOf(OPENING) === 0 && raw.lastIndexOf(CLOSING) === raw.length - CLOSING.length;
}

export function mendStream(terms: RelayTerms): StreamRelay {
  return new MendedStream(terms);
}
