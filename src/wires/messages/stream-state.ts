import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import { LIMITS } from '../../limits.ts';
import type { Bill } from '../bill.ts';
import { isCount, isObject, type Members } from '../fields/members.ts';
import type { HostError, RelayTerms } from '../wire.ts';
import type { DeltaShape } from './delta-shape.ts';
import { readInBandError } from './errors.ts';
import { blockStop, frameText, MESSAGE_STOP, signatureDelta } from './frames.ts';
import { messageStart, ownMessageId } from './message.ts';
import { HOST_MEMBERS } from './quirks.ts';
import { receiptFrame } from './receipt.ts';
import { mergeUsage, readUsage, writeFinalUsage } from './usage.ts';

/** The block the client has open; blocks never overlap, and their numbers have no gaps. */
export interface OpenBlock {
  readonly index: number;
  readonly hostIndex: unknown;
  /** Clients take the last piece of a signature for the whole, so it waits here until the block ends. */
  signature: string | null;
  /** How its deltas look when they may pass as they came. */
  readonly shape: DeltaShape | null;
}

/**
 * What both relays of this wire remember of a stream, and how they close it. The last frames but one are withheld with
 * the last: the usage they carry must be the billed one, and that is known only once the stream is settled.
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
  #usage: Members | null = null;
  #finalUsage: Members = {};
  #usageIsFinal = false;
  #lastEvent: Members = {};
  #ending: Members = {};

  constructor(terms: RelayTerms) {
    this.terms = terms;
  }

  /** The beginning counts the input; its output count is only a first guess. */
  start(event: Members): string {
    this.started = true;
    const host: Members = isObject(event.message) ? { ...event.message } : {};
    if (isObject(host.usage)) this.#usage = mergeUsage(this.#usage ?? {}, host.usage);
    for (const name of HOST_MEMBERS) host[name] = undefined;
    const id = typeof host.id === 'string' && host.id !== '' ? host.id : ownMessageId(this.terms.requestId);
    return messageStart(event, host, id, this.terms.catalogModel);
  }

  noteEnding(event: Members): void {
    this.#lastEvent = { ...this.#lastEvent, ...event };
    if (isObject(event.delta)) this.#ending = mergeUsage(this.#ending, event.delta);
    if (!isObject(event.usage)) return;
    this.#usage = mergeUsage(this.#usage ?? {}, event.usage);
    this.#finalUsage = mergeUsage(this.#finalUsage, event.usage);
    if (isCount(event.usage.output_tokens)) this.#usageIsFinal = this.mayEndHere;
  }

  get mayEndHere(): boolean {
    return this.started && typeof this.#ending.stop_reason === 'string';
  }

  /** The host's last word; what never began cannot end. */
  stop(): null {
    if (!this.started) return this.fail({ message: 'the host ended its stream without an answer' });
    this.terminal = true;
    return null;
  }

  /** Pieces of a signature leave as one frame, so together they may be no more. */
  sign({ signature }: Members): void {
    const block = this.open!;
    block.signature = (block.signature ?? '') + String(signature ?? '');
    if (block.signature.length > LIMITS.sseFrameBytesMax)
      this.fail({ message: 'the host sent a signature without end' });
  }

  get usage(): UsageReading {
    if (this.#usage === null) return MISSING_USAGE;
    const reading = readUsage(this.#usage);
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
    const signature = block.signature === null ? '' : signatureDelta(block.index, block.signature);
    return signature + blockStop(block.index);
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
