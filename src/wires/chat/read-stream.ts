import type { EventSink } from '../../canonical/events.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import { tryParseJson } from '../../json/json.ts';
import { randomBase62 } from '../../kit/ids.ts';
import type { SseFrame } from '../../kit/sse.ts';
import { isObject, type Members, objectsIn } from '../fields/members.ts';
import type { StreamReader } from '../hub.ts';
import { signingVendor } from './call-signatures.ts';
import { DeltaEmitter, finishReasonOf } from './emit-delta.ts';
import { isFailure } from './finish-reason.ts';
import { mendChoice } from './mend-choice.ts';
import { modelBytes } from './mend-text.ts';
import { exactResponse } from './mend-tool-calls.ts';
import { StreamState } from './stream-state.ts';

/** Reads a host's chat stream into events: each chunk is repaired as for a client of this wire, then translated. */
class ChatStreamReader extends StreamState implements StreamReader {
  readonly #emit: EventSink;
  readonly #deltas: DeltaEmitter;
  #started = false;
  #reason: string | null = null;

  constructor(quirks: HostQuirks, emit: EventSink) {
    super({
      catalogModel: '',
      requestId: '',
      createdS: 0,
      nowS: () => 0,
      wantsUsageFrame: false,
      hideReasoning: false,
      request: null,
      quirks,
    });
    this.#emit = emit;
    this.#deltas = new DeltaEmitter(emit, signingVendor(quirks));
  }

  frame(frame: SseFrame): void {
    if (this.terminal) return;
    try {
      this.#read(frame);
    } catch (error) {
      this.#broken((error as Error).message);
    }
  }

  end(): void {
    if (!this.terminal && this.mayEndHere) this.#finish();
  }

  #read(frame: SseFrame): void {
    const data = frame.data?.trim() ?? '';
    if (data === '') return;
    if (data === '[DONE]') {
      if (this.choices.length === 0) this.#broken('the host ended its stream without a response');
      else this.#finish();
      return;
    }
    const chunk = exactResponse(tryParseJson(data), data);
    if (!isObject(chunk)) this.#broken('the host sent a frame that is not a JSON object');
    else if (chunk.error || frame.event === 'error') this.#broken(chunk.error ?? chunk, chunk);
    else this.#chunk(chunk);
  }

  #chunk(chunk: Members): void {
    const choice = objectsIn(chunk.choices)[0];
    if (choice !== undefined) {
      if (isFailure(choice.finish_reason)) {
        this.#broken(choice.error ?? 'the host aborted its response', chunk);
        return;
      }
      this.#choice(chunk, choice);
    }
    // A stream that is cut off costs what it had reported by then.
    if (this.noteUsage(chunk)) this.#emit({ kind: 'usage', reading: this.usage });
  }

  #choice(chunk: Members, choice: Members): void {
    if (!this.#started) {
      this.#started = true;
      const { id, created } = chunk;
      const createdS = Number.isSafeInteger(created) && (created as number) > 0 ? (created as number) : null;
      this.#emit({ kind: 'start', id: typeof id === 'string' && id !== '' ? id : null, createdS });
    }
    mendChoice(choice, this.choiceAt(0), false, () => `call_${randomBase62(24)}`);
    const delta = choice.delta as Members;
    this.#deltas.delta(delta);
    const bytes = modelBytes(delta);
    if (bytes > 0) this.noteWords(bytes);
    if (typeof choice.finish_reason === 'string') this.#reason = choice.finish_reason;
  }

  #finish(): void {
    this.terminal = true;
    this.#emit({ kind: 'usage', reading: this.usage });
    const hasCalls = this.choices.some(({ calls }) => calls.length > 0);
    this.#deltas.finish(finishReasonOf(this.#reason ?? (hasCalls ? 'tool_calls' : 'stop')), this.#reason);
  }

  #broken(error: unknown, chunk: Members = {}): void {
    this.fail(error, chunk);
    this.#emit({ kind: 'usage', reading: this.usage });
    this.#emit({ kind: 'error', error: this.error! });
  }
}

export function readStream(quirks: HostQuirks, emit: EventSink): StreamReader {
  return new ChatStreamReader(quirks, emit);
}
