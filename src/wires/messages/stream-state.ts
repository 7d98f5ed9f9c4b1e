import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { LIMITS } from '../../limits.ts';
import type { Bill } from '../bill.ts';
import { contentBytes } from '../fields/extra-bytes.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isCount, isObject, type Members } from '../fields/members.ts';
import { laterReading } from '../usage/later-reading.ts';
import type { HostError, RelayTerms } from '../wire.ts';
import type { DeltaShape } from './delta-shape.ts';
import { readInBandError } from './errors.ts';
import { blockStop, frameText, MESSAGE_STOP, signatureDelta } from './frames.ts';
import { messageStart, ownMessageId } from './message.ts';
import { HOST_MEMBERS } from './quirks.ts';
import { receiptFrame } from './receipt.ts';
import { mergeUsage, readUsage, writeFinalUsage } from './usage.ts';

/** The block that is open for the client; blocks never overlap, and their indexes have no gaps. */
interface OpenBlock {
  readonly index: number;
  readonly hostIndex: unknown;
  /** Clients take the last signature delta for the whole signature, so it is collected until the block ends. */
  signature: string | null;
  /** What had been sent of the whole stream when the block began. */
  readonly relayedBefore: number;
  /** The shape of deltas that can be passed on unchanged. */
  readonly shape: DeltaShape | null;
}

/**
 * The state of one stream, and how it is closed. The frames with the final usage are withheld until the stream is
 * settled: they must carry the billed usage.
 */
export class StreamState {
  readonly terms: RelayTerms;
  started = false;
  open: OpenBlock | null = null;
  nextIndex = 0;
  toolsSeen = false;
  relayedBytes = 0;
  terminal = false;
  error: HostError | null = null;
  #usage: Members = {};
  #reading: UsageReading = MISSING_USAGE;
  #finalUsage: Members = {};
  #usageIsFinal = false;
  #lastEvent: Members = {};
  #ending: Members = {};

  constructor(terms: RelayTerms) {
    this.terms = terms;
  }

  /** The first frame has the input counts; its output count is preliminary. */
  start(event: Members): string {
    this.started = true;
    const host: Members = isObject(event.message) ? { ...event.message } : {};
    if (isObject(host.usage)) this.#noteUsage(host.usage);
    for (const name of HOST_MEMBERS) host[name] = undefined;
    const id = isUsableId(host.id) ? host.id : ownMessageId(this.terms.requestId);
    return messageStart(event, host, id, this.terms.catalogModel);
  }

  noteEnding(event: Members): void {
    this.#lastEvent = { ...this.#lastEvent, ...event };
    if (isObject(event.delta)) this.#ending = mergeUsage(this.#ending, event.delta);
    if (!isObject(event.usage)) return;
    this.#noteUsage(event.usage);
    this.#finalUsage = mergeUsage(this.#finalUsage, event.usage);
    if (isCount(event.usage.output_tokens)) this.#usageIsFinal = this.mayEndHere;
  }

  /** Records content that was sent to the client; usage that came before does not include it. */
  protected noteContent(bytes: number): void {
    if (bytes === 0) return;
    this.relayedBytes += bytes;
    this.#usageIsFinal = false;
  }

  get mayEndHere(): boolean {
    return this.started && typeof this.#ending.stop_reason === 'string';
  }

  /** The last frame of the host; fails if the message never began. */
  stop(): null {
    if (!this.started) return this.fail({ message: 'the host ended its stream without a response' });
    this.terminal = true;
    return null;
  }

  /** A signature is sent as one frame, so its size is limited like a frame. */
  sign({ signature }: Members): void {
    const block = this.open!;
    block.signature = (block.signature ?? '') + String(signature ?? '');
    if (block.signature.length > LIMITS.sseFrameBytesMax)
      this.fail({ message: 'the host sent a signature that is too long' });
  }

  #noteUsage(counts: Members): void {
    this.#usage = mergeUsage(this.#usage, counts);
    this.#reading = laterReading(this.#reading, readUsage(this.#usage));
  }

  get usage(): UsageReading {
    const reading = this.#reading;
    if (reading.state !== 'reported' || this.#usageIsFinal) return reading;
    return { state: 'partial', usage: reading.usage };
  }

  fail(error: unknown): null {
    this.error = readInBandError(error);
    this.terminal = true;
    return null;
  }

  closeBlock(): string {
    const block = this.open;
    if (block === null) return '';
    this.open = null;
    if (block.signature === null) return blockStop(block.index);
    // A signature is not the model's text, but where no text was sent it is all that the block has.
    if (this.relayedBytes === block.relayedBefore) this.relayedBytes += contentBytes(block.signature);
    return signatureDelta(block.index, block.signature) + blockStop(block.index);
  }

  closing(bill: Bill): string {
    const opening = this.started ? '' : this.start({});
    return opening + this.closeBlock() + this.#messageDelta(bill) + MESSAGE_STOP + receiptFrame(bill, this.terms);
  }

  #messageDelta({ usage }: Bill): string {
    const stopReason = this.toolsSeen ? 'tool_use' : 'end_turn';
    const delta = {
      stop_reason: stopReason,
      stop_sequence: null,
      stop_details: null,
      container: null,
      ...this.#ending,
    };
    const written = { delta, usage: writeFinalUsage(usage, this.#finalUsage) };
    return frameText('message_delta', JSON.stringify({ ...this.#lastEvent, type: 'message_delta', ...written }));
  }
}
