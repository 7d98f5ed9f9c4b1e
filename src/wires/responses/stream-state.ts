import type { GatewayError } from '../../canonical/errors.ts';
import { MISSING_USAGE, type UsageReading } from '../../canonical/usage.ts';
import type { Bill } from '../bill.ts';
import { isUsableId } from '../fields/host-members.ts';
import { isAbsent, isObject, type Members, removeMembers } from '../fields/members.ts';
import { type UsageRule, usageRule } from '../usage/inclusive-usage.ts';
import { laterReading } from '../usage/later-reading.ts';
import type { HostError, RelayTerms } from '../wire.ts';
import { readStreamError, writeFailure } from './errors.ts';
import { EventNumbers } from './event-numbers.ts';
import { UNWANTED_MEMBERS } from './quirks.ts';
import { completedAt, completeResponse, echoLabels, responseId, responseObject } from './response-object.ts';
import { readUsage, writeUsage } from './usage.ts';

/** The state of one stream, and how it is opened and closed. */
export class StreamState {
  readonly terms: RelayTerms;
  protected readonly numbers = new EventNumbers();
  relayedBytes = 0;
  terminal = false;
  error: HostError | null = null;
  /** The latest response object, repaired. */
  protected response: Members | null = null;
  readonly #usageRule: UsageRule;
  /** The first events wait for content: until then a failure can be an HTTP error, or another host can be tried. */
  #opening = '';
  #hasOpened = false;
  #isInProgress = false;
  /** The event that ended the stream; it waits until the call is settled. */
  #end: Members | null = null;
  #rawUsage: unknown = null;
  #reading: UsageReading = MISSING_USAGE;
  #isUsageFinal = false;

  constructor(terms: RelayTerms) {
    this.terms = terms;
    this.#usageRule = usageRule(terms.quirks);
  }

  get usage(): UsageReading {
    const reading = this.#reading;
    return reading.state !== 'reported' || this.#isUsageFinal ? reading : { state: 'partial', usage: reading.usage };
  }

  get mayEndHere(): boolean {
    return false;
  }

  closing({ usage }: Bill): string {
    const opening = this.takeOpening();
    const response = this.#endedResponse();
    response.usage = writeUsage(usage, this.#rawUsage);
    return opening + this.numbers.write(`response.${response.status}`, { ...this.#end, ...ended(response) });
  }

  /** The frames that end the client's stream after a failure. */
  failure(error: GatewayError): string {
    const opening = this.takeOpening();
    return opening + writeFailure(error, this.numbers, { ...this.#known(), output: this.output() });
  }

  /** The items of the response so far. */
  protected output(): unknown[] {
    return [];
  }

  /** An event that opens the stream, or repeats that it is in progress. */
  protected open(type: string, event: Members): string | null {
    if (this.response !== null && type === 'response.created') return null;
    // A repeated event before any content is dropped.
    if (this.#isInProgress && !this.#hasOpened) return null;
    const isLate = this.response === null && type !== 'response.created';
    this.response = this.mendResponse(isObject(event.response) ? event.response : this.#known());
    const missing = isLate ? this.#writeOpening('created') : '';
    this.#noteUsage(this.response, false);
    const written = missing + this.numbers.write(type, { ...event, type, response: this.response });
    this.#isInProgress ||= type === 'response.in_progress';
    if (this.#hasOpened) return written;
    this.#opening += written;
    return null;
  }

  /** The events that waited for the first content; missing ones are added. */
  protected takeOpening(): string {
    if (this.#hasOpened) return '';
    this.#hasOpened = true;
    const created = this.response === null ? this.#writeOpening('created') : this.#opening;
    this.response ??= this.#known();
    return this.#isInProgress ? created : created + this.#writeOpening('in_progress');
  }

  /** The last event of the host. */
  protected end(event: Members): null {
    const response = isObject(event.response) ? event.response : {};
    this.#noteUsage(response, true);
    this.#end = { ...event, response };
    this.terminal = true;
    return null;
  }

  /** The host sent an error, or the stream is broken. */
  protected fail(error: unknown, response: unknown = null): null {
    if (isObject(response)) this.#noteUsage(response, true);
    this.error = readStreamError(error);
    this.terminal = true;
    return null;
  }

  /** Gives every response object one id and the catalog's model name, and removes members of the host's own. */
  protected mendResponse(response: Members): Members {
    removeMembers(response, UNWANTED_MEMBERS);
    response.id = this.response?.id ?? (isUsableId(response.id) ? response.id : responseId(this.terms.requestId));
    response.model = this.terms.catalogModel;
    response.store = false;
    if (isAbsent(response.created_at)) response.created_at = this.response?.created_at ?? this.terms.createdS;
    completeResponse(response);
    return Object.assign(response, echoLabels(this.terms.request));
  }

  /** A host that ended normally without a last event has completed its response. */
  protected get endedStatus(): 'completed' | 'incomplete' {
    const { type, response } = this.#end ?? {};
    const status = isObject(response) ? response.status : null;
    if (status === 'completed' || status === 'incomplete') return status;
    return type === 'response.incomplete' ? 'incomplete' : 'completed';
  }

  #endedResponse(): Members {
    const reported = this.#end?.response as Members | undefined;
    const response = this.mendResponse({ ...(reported ?? this.#known()) });
    response.status = this.endedStatus;
    response.completed_at = completedAt(response, this.terms.nowS());
    response.output = this.endedOutput(response.output);
    return response;
  }

  protected endedOutput(reported: unknown): unknown {
    return reported;
  }

  #known(): Members {
    const { requestId, catalogModel, createdS } = this.terms;
    return this.response ?? responseObject({ id: responseId(requestId), model: catalogModel, created_at: createdS });
  }

  #writeOpening(status: string): string {
    return this.numbers.write(`response.${status}`, { response: this.#known() });
  }

  #noteUsage({ usage }: Members, isFinal: boolean): void {
    if (isAbsent(usage)) return;
    this.#rawUsage = usage;
    this.#reading = laterReading(this.#reading, readUsage(usage, this.#usageRule));
    this.#isUsageFinal = isFinal;
  }
}

function ended(response: Members): Members {
  return { type: `response.${response.status}`, response };
}
