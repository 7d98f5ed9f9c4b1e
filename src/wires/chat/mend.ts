import { tryParseJson } from '../../kit/json.ts';
import type { SseFrame } from '../../kit/sse.ts';
import type { RelayTerms, StreamRelay } from '../wire.ts';
import { readStreamError } from './errors.ts';
import { isObject } from './fields.ts';
import { HOST_MEMBERS } from './manners.ts';
import { isHollow, mendChoice, modelBytes, removeMembers } from './mend-choice.ts';
import { StreamState } from './stream-state.ts';

type Chunk = Record<string, unknown>;

/** Parses every frame and puts it right; a frame that needed nothing goes on as the bytes that came. */
class MendedStream extends StreamState implements StreamRelay {
  #created: number | null = null;
  readonly #mintId = (index: number): string => `call_${this.terms.requestId}_${index}`;

  frame(frame: SseFrame): Buffer | string | null {
    const data = frame.data;
    if (data === null || this.terminal) return null;
    if (data === '[DONE]') {
      this.terminal = true;
      return null;
    }
    const chunk = tryParseJson(data);
    if (!isObject(chunk)) return this.#fail({ message: 'the host sent a frame that is not JSON' });
    if (frame.event === 'error' || (chunk.error !== undefined && chunk.error !== null)) {
      this.noteUsage(chunk, true);
      return this.#fail(chunk.error ?? chunk);
    }
    return this.#mend(chunk, frame, data);
  }

  #fail(error: unknown): null {
    this.error = readStreamError(error);
    this.terminal = true;
    return null;
  }

  #mend(chunk: Chunk, frame: SseFrame, data: string): Buffer | string | null {
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
    this.noteUsage(chunk, choices.length === 0);
    if (choices.length === 0) return null;
    const hostModel = chunk.model;
    let changed = this.#mendIdentity(chunk);
    changed = this.#mendUsage(chunk) || changed;
    changed = removeMembers(chunk, HOST_MEMBERS) || changed;
    let says = 0;
    for (const choice of choices) {
      const state = this.choice(choice.index);
      const isFirst = !state.roleSent;
      changed = mendChoice(choice, state, this.#mintId, this.terms.hideReasoning) || changed;
      const bytes = modelBytes(choice.delta as Chunk);
      this.relayedBytes += bytes;
      if (isFirst || bytes > 0 || !isHollow(choice)) says++;
    }
    if (says === 0) return null;
    if (changed || frame.event !== null) {
      chunk.model = this.terms.catalogModel;
      return `data: ${JSON.stringify(chunk)}\n\n`;
    }
    return this.#renamed(frame, data, hostModel);
  }

  /** One id and one creation time for all chunks: some hosts change them, or begin without. */
  #mendIdentity(chunk: Chunk): boolean {
    let changed = false;
    if (this.id === null && typeof chunk.id === 'string' && chunk.id !== '') this.id = chunk.id;
    if (chunk.id !== this.idOrOwn()) {
      chunk.id = this.id;
      changed = true;
    }
    const created = chunk.created;
    this.#created ??=
      Number.isSafeInteger(created) && (created as number) > 0 ? (created as number) : this.terms.createdS;
    if (created !== this.#created) {
      chunk.created = this.#created;
      changed = true;
    }
    if (chunk.object !== 'chat.completion.chunk') {
      chunk.object = 'chat.completion.chunk';
      changed = true;
    }
    return changed;
  }

  /** Usage never rides on a choice frame; `null` stands there only for a client that asked for the usage frame. */
  #mendUsage(chunk: Chunk): boolean {
    const usage = chunk.usage;
    if (this.terms.wantsUsageFrame) {
      if (usage === null) return false;
      chunk.usage = null;
      return true;
    }
    if (usage === undefined) return false;
    delete chunk.usage;
    return true;
  }

  /** The commonest change is the model's name alone; replacing it in the text spares writing the frame anew. */
  #renamed(frame: SseFrame, data: string, hostModel: unknown): Buffer | string {
    const { catalogModel } = this.terms;
    if (hostModel === catalogModel) return frame.raw;
    const member = `"model":${JSON.stringify(hostModel)}`;
    const at = data.indexOf(member);
    if (at !== -1 && data.indexOf(member, at + 1) === -1) {
      return `data: ${data.slice(0, at)}"model":${JSON.stringify(catalogModel)}${data.slice(at + member.length)}\n\n`;
    }
    return `data: ${JSON.stringify({ ...(tryParseJson(data) as Chunk), model: catalogModel })}\n\n`;
  }
}

export function mendStream(terms: RelayTerms): StreamRelay {
  return new MendedStream(terms);
}
