import type { GatewayError } from '../canonical/errors.ts';
import { inOrder } from '../canonical/event-order.ts';
import type { BlockHead, CanonicalEvent, ResponseBlock } from '../canonical/events.ts';
import { ResponseFold } from '../canonical/fold.ts';
import type { HostError } from '../canonical/host-error.ts';
import type { HostQuirks } from '../canonical/host-quirks.ts';
import { MISSING_USAGE, type UsageReading } from '../canonical/usage.ts';
import { wholeCharacters } from '../canonical/whole-characters.ts';
import type { SseFrame } from '../kit/sse.ts';
import type { Bill } from '../wires/bill.ts';
import type { HubClient, HubUpstream, StreamReader, StreamWriter, WriteTerms } from '../wires/hub.ts';
import { type BufferedResponse, HostResponseBroken, type StreamRelay } from '../wires/wire.ts';

/** The relay between two wires: the host's frames become events, and the events become the client's frames. */
export class TranslatedStream implements StreamRelay {
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #shows: (block: BlockHead) => boolean;
  #written = '';
  #hidden = false;
  #finished = false;
  usage: UsageReading = MISSING_USAGE;
  relayedBytes = 0;
  error: HostError | null = null;
  readonly failure?: (error: GatewayError) => string;

  constructor(client: HubClient, upstream: HubUpstream, terms: WriteTerms, quirks: HostQuirks) {
    this.#writer = client.writeStream(terms);
    const writer = this.#writer;
    if (writer.failure !== undefined) this.failure = (error) => this.#written + writer.failure!(error);
    this.#shows = (block) => isShown(block, client, terms);
    this.#reader = upstream.readStream(quirks, inOrder(wholeCharacters((event) => this.#event(event))));
  }

  /** Some writers keep the text, to repeat it in the last event. */
  get keptBytes(): number {
    return this.relayedBytes;
  }

  get terminal(): boolean {
    return this.#finished || this.error !== null;
  }

  /** Asked when the host has ended its body, because the reader knows whether the response was complete. */
  get mayEndHere(): boolean {
    if (!this.terminal) this.#reader.end();
    return this.#finished;
  }

  frame(frame: SseFrame): string | null {
    if (this.terminal) return null;
    this.#reader.frame(frame);
    if (this.#written === '' || this.#finished) return null;
    const written = this.#written;
    this.#written = '';
    return written;
  }

  /** The output of the last events is withheld until the settlement. */
  closing(bill: Bill): string {
    return this.#written + this.#writer.closing(bill);
  }

  #event(event: CanonicalEvent): void {
    if (event.kind === 'usage') this.usage = event.reading;
    else if (event.kind === 'error') this.error = event.error;
    else if (!this.#isHidden(event)) this.#write(event);
  }

  #write(event: CanonicalEvent): void {
    this.relayedBytes += modelBytes(event);
    if (event.kind === 'finish') this.#finished = true;
    this.#written += this.#writer.event(event);
  }

  #isHidden(event: CanonicalEvent): boolean {
    if (event.kind === 'block-start') this.#hidden = !this.#shows(event.block);
    const hidden = this.#hidden;
    if (event.kind === 'block-end') this.#hidden = false;
    return hidden;
  }
}

/** Leaves out whole blocks: reasoning that the caller does not want, and what the caller's wire has no place for. */
function isShown(block: BlockHead, { shows }: HubClient, { hideReasoning }: WriteTerms): boolean {
  if (hideReasoning && block.kind === 'reasoning') return false;
  return shows === undefined || shows(block);
}

/** Counts all of the model's output: text, names of tool calls, reasoning signatures. */
function modelBytes(event: CanonicalEvent): number {
  if (event.kind === 'block-delta') return Buffer.byteLength(event.text);
  if (event.kind === 'block-start') return event.block.kind === 'tool-call' ? Buffer.byteLength(event.block.name) : 0;
  if (event.kind === 'block-end') return event.opaque === null ? 0 : Buffer.byteLength(event.opaque.data);
  return 0;
}

/** The same for a block of a complete response. */
function blockBytes({ head, text, opaque }: ResponseBlock): number {
  const name = head.kind === 'tool-call' ? head.name : '';
  return Buffer.byteLength(name) + Buffer.byteLength(text) + Buffer.byteLength(opaque?.data ?? '');
}

/** Translates a complete response from one wire to another. */
export function translateResponse(
  body: Buffer,
  client: HubClient,
  upstream: HubUpstream,
  terms: WriteTerms,
  quirks: HostQuirks,
): BufferedResponse {
  const fold = new ResponseFold();
  upstream.readResponse(body, quirks, inOrder(wholeCharacters(fold.event)));
  const whole = fold.answer();
  if (whole === null) throw new HostResponseBroken('The response of the host is incomplete.');
  const blocks = whole.blocks.filter(({ head }) => isShown(head, client, terms));
  const relayedBytes = blocks.reduce((sum, block) => sum + blockBytes(block), 0);
  return {
    usage: whole.usage,
    relayedBytes,
    write: (bill) => client.writeResponse({ ...whole, blocks }, bill, terms),
  };
}
