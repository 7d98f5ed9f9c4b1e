import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import type { Ended } from '../../canonical/receipt.ts';
import type { RequestControl, ResponseReceiver } from '../../hosts/directory.ts';
import type { HostSign } from '../../hosts/host-sign.ts';
import type { Timer } from '../../kit/clock.ts';
import { counted } from '../../kit/counted.ts';
import { type SseFrame, SseFramer } from '../../kit/sse.ts';
import { LIMITS } from '../../limits.ts';
import type { Bill } from '../../wires/bill.ts';
import type { HostError, StreamRelay } from '../../wires/wire.ts';
import {
  type AttemptResult,
  type AttemptTerms,
  brokenResponseFault,
  CLIENT_GONE_STATUS,
  compressedFault,
  connectionFault,
  errorOfFault,
  type HostFault,
  isClearStatus,
  isEncoded,
  isErrorStatus,
  isEventStream,
  isUnreached,
  isUnsent,
  NOTHING_LEARNED,
  noRoomFault,
  readHostFailure,
  repeatsOf,
  retryAfterMsOf,
  silenceFault,
} from './attempt.ts';
import { CancelDecision } from './cancel-decision.ts';
import { StreamOutlet } from './stream-outlet.ts';
import { StreamTimes } from './stream-times.ts';
import { WholeBody } from './whole-body.ts';

/** Relays a host's stream frame by frame. The last frames are withheld until the settlement. */
export function relayStreamed(terms: AttemptTerms): Promise<AttemptResult> {
  return new Promise((resolve) => new StreamedRelay(terms, resolve).start());
}

class StreamedRelay implements ResponseReceiver {
  readonly #terms: AttemptTerms;
  readonly #resolve: (result: AttemptResult) => void;
  readonly #stream: StreamRelay;
  readonly #framer = new SseFramer(LIMITS.sseFrameBytesMax);
  readonly #outlet: StreamOutlet;
  /** What one read from the host produces for the client; sent in one write. Before the first content it waits here. */
  readonly #outgoing: (Buffer | string)[] = [];
  #outgoingBytes = 0;
  readonly #onFrame = (frame: SseFrame): void => this.#frame(frame);
  readonly #onBeginning = (bytes: Buffer, from: number): number => this.#repeated(bytes, from);
  #control: RequestControl | null = null;
  #status = 0;
  #firstByteMs: number | null = null;
  /** When the first content came, from the hold. */
  #firstContentMs: number | null = null;
  #retryAfterMs: number | null = null;
  /** The body of a response that is not an event stream: an error, or a host that did not stream. */
  #body: WholeBody | null = null;
  readonly #times: StreamTimes;
  #drainLimit: Timer | null = null;
  #linger: Timer | null = null;
  /** Then the text of a stream that came whole is sent without its end: the store is slow or away. */
  #keepLimit: Timer | null = null;
  #forgetShutdown: () => void = () => {};
  #clientEnded: 'client_gone' | 'stalled' | null = null;
  /** Bytes relayed before the client was lost. Only these may be charged by estimate. */
  #relayedAtLoss = 0;
  /** The client has left, and the host is read to its end because it may not be cancelled. */
  #readToEnd = false;
  readonly #decision: CancelDecision;
  #over = false;

  constructor(terms: AttemptTerms, resolve: (result: AttemptResult) => void) {
    this.#terms = terms;
    this.#resolve = resolve;
    this.#stream = terms.hostCall.openStream();
    this.#decision = new CancelDecision(terms.mayCancel);
    this.#outlet = new StreamOutlet(terms, {
      pause: () => this.#control?.pause(),
      resume: () => this.#resume(),
      lost: (how) => this.#clientLost(how),
    });
    this.#times = new StreamTimes(terms.clock, terms.limits, {
      hostSilent: (limitMs) => this.#silent(limitMs),
      clientIdle: () => this.#keepAlive(),
      ranTooLong: () => this.#ranTooLong(),
    });
  }

  start(): void {
    this.#forgetShutdown = this.#terms.runningCalls.onCutOff(() => this.#shutDown());
    if (this.#over) return;
    this.#control = this.#terms.send(this);
    // A request that could not be sent has failed by now.
    if (!this.#over) this.#outlet.watch();
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    if (this.#hasResult) return;
    const { clock } = this.#terms;
    this.#status = status;
    this.#firstByteMs = clock.monotonicMs() - this.#times.startedMs;
    this.#retryAfterMs = retryAfterMsOf(status, headers, clock);
    if (isEncoded(headers)) this.#giveUp(compressedFault());
    else if (isErrorStatus(status) || !isEventStream(headers)) this.#body = new WholeBody(this.#terms.sink.room);
    // Keep-alives start with the host's own 200.
    else if (this.#clientEnded === null) this.#times.clientWritten();
  }

  data(chunks: readonly Buffer[]): void {
    if (this.#hasResult) return;
    this.#times.hostSpoke();
    const fault = this.#body === null ? this.#pass(chunks) : this.#body.add(chunks);
    if (fault !== null) this.#giveUp(fault);
  }

  end(): void {
    this.#linger?.cancel();
    if (this.#hasResult) return;
    try {
      if (this.#body !== null) this.#readWhole(this.#body.join());
      else this.#endOfStream();
    } catch (error) {
      this.#giveUp(brokenResponseFault(error as Error));
    }
  }

  failed(error: Error): void {
    this.#linger?.cancel();
    if (!this.#hasResult) this.#giveUp(connectionFault(error, this.#terms, this.#control));
  }

  /** Handles an error before the stream, or a complete response where a stream was requested. */
  #readWhole(body: Buffer): void {
    if (isErrorStatus(this.#status)) {
      this.#hostFailed(this.#terms.hostCall.readError(this.#status, body));
      return;
    }
    const frames = this.#terms.hostCall.responseAsStream(body);
    if (frames === null) throw new Error('The host sent neither an event stream nor a valid response.');
    this.#body = null;
    const fault = this.#pass([frames]);
    if (fault !== null) this.#giveUp(fault);
    else if (!this.#over) this.#endOfStream();
  }

  /** Returns why the stream must be given up; null if it may go on, or is over. */
  #pass(chunks: readonly Buffer[]): HostFault | null {
    try {
      // In one piece, because repeated frames are recognised best if they are adjacent.
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      this.#framer.push(bytes, this.#onFrame, this.#onBeginning);
    } catch (error) {
      this.#flush();
      return brokenResponseFault(error as Error);
    }
    const { clock, heldSinceMs } = this.#terms;
    // Wall time may have stepped back.
    if (this.#firstContentMs === null && heldSinceMs !== null && this.#stream.relayedBytes > 0)
      this.#firstContentMs = Math.max(0, clock.nowMs() - heldSinceMs);
    if (this.#cameWhole()) this.#keepLimit = clock.after(LIMITS.wholeStreamKeptMs, () => this.#flush());
    else this.#flush();
    if (this.#stream.terminal) {
      this.#hostFinished();
      return null;
    }
    if (this.#stream.relayedBytes > LIMITS.streamWordBytesMax)
      return brokenResponseFault(new Error('The stream of the host exceeds the limit on text.'));
    if (this.#stream.relayedBytes > 0) this.#times.contentBegan();
    const keptBytes = this.#framer.begunBytes + (this.#stream.keptBytes ?? 0);
    return this.#terms.sink.room.keep(keptBytes) ? null : noRoomFault();
  }

  /** A short stream whose first text and end came in one read leaves in one write, after its settlement, as a buffered response does. */
  #cameWhole(): boolean {
    if (!this.#stream.terminal || this.#stream.error !== null || this.#terms.sink.headSent) return false;
    return this.#outgoingBytes <= LIMITS.responseJoinedBytesMax;
  }

  #repeated(bytes: Buffer, from: number): number {
    const passed = this.#stream.repeated?.(bytes, from) ?? null;
    if (passed === null) return from;
    this.#put(passed.bytes);
    return passed.end;
  }

  #frame(frame: SseFrame): void {
    const bytes = this.#stream.frame(frame);
    if (bytes !== null) this.#put(bytes);
  }

  #put(bytes: Buffer | string): void {
    this.#outgoing.push(bytes);
    this.#outgoingBytes += bytes.length;
  }

  #flush(): void {
    if (this.#outgoing.length === 0 || this.#isOpening()) return;
    // What was kept may have been refused meanwhile.
    if (this.#clientEnded === null && !(this.#over && this.#terms.sink.headSent)) {
      this.#outlet.write(this.#outgoing);
      this.#times.clientWritten();
    }
    this.#outgoing.length = 0;
    this.#outgoingBytes = 0;
  }

  /** Until the first content nothing is sent: a failure can still be an HTTP error, or another host can be tried. */
  #isOpening(): boolean {
    if (this.#stream.relayedBytes > 0 || this.#terms.sink.headSent) return false;
    return this.#outgoingBytes <= LIMITS.frameOpeningBytesMax;
  }

  /** The keep-alive sends the head of the response, so nothing has to wait any longer. */
  #keepAlive(): void {
    this.#outlet.sendKeepAlive();
    this.#flush();
  }

  #endOfStream(): void {
    this.#framer.end(this.#onFrame);
    this.#flush();
    if (this.#stream.terminal || this.#stream.mayEndHere) this.#hostFinished();
    else this.#breakOff('The host ended its stream in the middle of the response.');
  }

  #hostFinished(): void {
    const error = this.#stream.error;
    if (error !== null) {
      this.#hostFailed(error);
      return;
    }
    this.#letGo();
    this.#finish(this.#result(this.#clientEnded ?? 'complete', null, null));
  }

  /** Gives the host some time to end the response, so that the connection can be reused, and cancels it after that. */
  #letGo(): void {
    const control = this.#control;
    if (control?.arrived === true) return;
    control?.resume();
    this.#linger = this.#terms.clock.after(LIMITS.hostLingerMs, () => control?.cancel(), { unref: true });
  }

  #hostFailed(hostError: HostError): void {
    this.#letGo();
    const contentLeft = this.#stream.relayedBytes > 0;
    const { error, fault } = readHostFailure(hostError, this.#terms, this.#retryAfterMs, contentLeft);
    this.#finish(this.#result('upstream_error', error, fault));
  }

  #breakOff(words: string): void {
    this.#giveUp(connectionFault(new Error(words), this.#terms, this.#control));
  }

  #giveUp(fault: HostFault): void {
    if (isClearStatus(this.#status)) {
      this.#hostFailed(this.#terms.hostCall.readError(this.#status, null));
      return;
    }
    this.#control?.cancel();
    const error = errorOfFault(fault, this.#terms.hostCall, this.#stream.relayedBytes > 0);
    this.#finish(this.#result('upstream_error', error, fault));
  }

  /** Restarts the host's idle limit, since the pause was ours. */
  #resume(): void {
    this.#times.hostSpoke();
    this.#control?.resume();
  }

  /** A host that we paused is not idle. The client's own limit applies then. */
  #silent(limitMs: number): void {
    if (this.#outlet.waiting) return;
    const silence = `nothing for ${counted(limitMs / 1000, 'second')}`;
    this.#timedOut(`The model sent ${silence}.`, silenceFault(silence, this.#control));
  }

  #ranTooLong(): void {
    if (this.#readToEnd && this.#stream.relayedBytes > 0) {
      this.#control?.cancel();
      this.#finish({ ...this.#result(this.#clientEnded!, null, null), sign: NOTHING_LEARNED });
      return;
    }
    const longest = counted(this.#terms.limits.streamMs / 1000, 'second');
    this.#timedOut(`The stream ran for ${longest}, the longest allowed.`, null);
  }

  #timedOut(message: string, fault: HostFault | null): void {
    this.#control?.cancel();
    this.#finish(this.#result('timeout', new GatewayError('host_timeout', { message }), fault));
  }

  #shutDown(): void {
    const turnedAway = isUnreached(this.#control);
    this.#control?.cancel();
    const message = 'The gateway is shutting down and ended this stream. Try again.';
    const error = new GatewayError('shutting_down', { message, retryAfterS: 1 });
    this.#finish({ ...this.#result('shutdown', error, null), turnedAway });
  }

  /** After some content the host is read for a while, since its usage comes at the end. */
  #clientLost(how: 'client_gone' | 'stalled'): void {
    if (this.#over || this.#clientEnded !== null) return;
    this.#clientEnded = how;
    this.#times.clientLost();
    this.#relayedAtLoss = this.#stream.relayedBytes;
    const { onClientGone, clock, limits } = this.#terms;
    if (isUnsent(this.#control)) {
      this.#control?.cancel();
      this.#finish({ ...this.#cancelled(how), turnedAway: true });
      return;
    }
    if (onClientGone === 'cancel' || this.#relayedAtLoss === 0) {
      this.#leaveHost(how);
      return;
    }
    this.#resume();
    this.#drainLimit = clock.after(limits.drainMs, () => this.#leaveHost(how));
  }

  /**
   * Cancels the host if the account's loss allowance covers what it may bill beyond the charge. Otherwise it is read to
   * the call's own limits.
   */
  #leaveHost(how: 'client_gone' | 'stalled'): void {
    const cancelled = this.#cancelled(how);
    this.#readToEnd = true;
    this.#resume();
    const cancel = (result: AttemptResult): void => {
      this.#control?.cancel();
      this.#finish(result);
    };
    this.#decision.ask(cancelled, cancel, (result) => {
      if (result !== null) this.#finish(result);
    });
  }

  #cancelled(how: 'client_gone' | 'stalled'): AttemptResult {
    return { ...this.#result(how, null, null), drained: false, sign: NOTHING_LEARNED };
  }

  #result(ended: Exclude<Ended, 'died'>, error: GatewayError | null, fault: HostFault | null): AttemptResult {
    const { usage } = this.#stream;
    const sentBytes = this.#clientEnded === null ? this.#stream.relayedBytes : this.#relayedAtLoss;
    const contentLeft = sentBytes > 0;
    const untouched = !this.#terms.sink.headSent && this.#clientEnded === null;
    // Once the response head was sent, even without content, the failure is reported inside the stream.
    const isFailure = ended === 'upstream_error' && !contentLeft && untouched;
    return {
      ended: this.#clientEnded ?? (isFailure ? 'failed' : ended),
      httpStatus: this.#clientEnded !== null ? CLIENT_GONE_STATUS : untouched && error !== null ? error.status : 200,
      usage,
      drained: this.#clientEnded !== null && error === null,
      contentLeft,
      relayedBytes: this.#readToEnd ? this.#stream.relayedBytes : sentBytes,
      readToEnd: this.#readToEnd,
      firstByteMs: this.#firstContentMs,
      repeats: repeatsOf(this.#control),
      error,
      hostFault: fault?.words ?? null,
      turnedAway: fault?.turnedAway === true,
      sign: fault?.sign ?? this.#signOfEnd(error),
      retryable: isFailure && fault?.retryable === true,
      deliver: (bill) => this.#deliver(bill, error),
    };
  }

  #signOfEnd(error: GatewayError | null): HostSign {
    return error === null ? { kind: 'well', firstByteMs: this.#firstByteMs } : NOTHING_LEARNED;
  }

  #deliver(bill: Bill, error: GatewayError | null): void {
    this.#keepLimit?.cancel();
    if (this.#clientEnded !== null) return;
    const { client, requestId } = this.#terms;
    if (error === null) this.#outlet.end([...this.#outgoing.splice(0), this.#stream.closing(bill)]);
    else this.#outlet.end([this.#stream.failure?.(error) ?? client.writeStreamError(error, requestId)]);
  }

  get #hasResult(): boolean {
    return this.#over || this.#decision.hasResult;
  }

  #finish(result: AttemptResult): void {
    if (this.#over || this.#decision.withholds(result)) return;
    this.#over = true;
    this.#times.stop();
    this.#drainLimit?.cancel();
    this.#forgetShutdown();
    this.#outlet.rest();
    this.#resolve(result);
  }
}
