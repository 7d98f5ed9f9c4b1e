import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import type { Ended } from '../../canonical/receipt.ts';
import { MISSING_USAGE } from '../../canonical/usage.ts';
import type { RequestControl, ResponseReceiver } from '../../hosts/directory.ts';
import type { Timer } from '../../kit/clock.ts';
import { counted } from '../../kit/counted.ts';
import type { Bill } from '../../wires/bill.ts';
import { type BufferedResponse, type HostError, HostResponseBroken } from '../../wires/wire.ts';
import type { WholeResponse } from '../client-sink.ts';
import {
  type AttemptResult,
  type AttemptTerms,
  CLIENT_GONE_STATUS,
  compressedFault,
  connectionFault,
  errorOfFault,
  HOST_FAILED,
  HOST_WELL,
  type HostFault,
  isClearStatus,
  isEncoded,
  isUnreached,
  isUnsent,
  NOTHING_LEARNED,
  readHostFailure,
  repeatsOf,
  retryAfterMsOf,
  silenceFault,
} from './attempt.ts';
import { CancelDecision } from './cancel-decision.ts';
import { WholeBody } from './whole-body.ts';

/** Waits for the host's complete response. The client gets nothing before the settlement. */
export function relayBuffered(terms: AttemptTerms): Promise<AttemptResult> {
  return new Promise((resolve) => new BufferedRelay(terms, resolve).start());
}

class BufferedRelay implements ResponseReceiver {
  readonly #terms: AttemptTerms;
  readonly #resolve: (result: AttemptResult) => void;
  readonly #body: WholeBody;
  #forgetShutdown: () => void = () => {};
  #control: RequestControl | null = null;
  #status = 0;
  #retryAfterMs: number | null = null;
  #timeLimit: Timer | null = null;
  #drainLimit: Timer | null = null;
  /** The client has left, and the host is read to its end because it may not be cancelled. */
  #readToEnd = false;
  readonly #decision: CancelDecision;
  #over = false;

  constructor(terms: AttemptTerms, resolve: (result: AttemptResult) => void) {
    this.#terms = terms;
    this.#resolve = resolve;
    this.#body = new WholeBody(terms.sink.room);
    this.#decision = new CancelDecision(terms.mayCancel);
  }

  start(): void {
    const { clock, limits, runningCalls, sink } = this.#terms;
    this.#timeLimit = clock.after(limits.bufferedMs, () => this.#timedOut());
    this.#forgetShutdown = runningCalls.onCutOff(() => this.#shutDown());
    if (this.#over) return;
    this.#control = this.#terms.send(this);
    sink.onGone(() => this.#clientGone());
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#retryAfterMs = retryAfterMsOf(status, headers, this.#terms.clock);
    if (isEncoded(headers)) this.#giveUp(compressedFault());
  }

  data(chunks: readonly Buffer[]): void {
    if (this.#over) return;
    const fault = this.#body.add(chunks);
    if (fault !== null) this.#giveUp(fault);
  }

  end(): void {
    const body = this.#body.join();
    const isAnswer = this.#status >= 200 && this.#status < 300;
    try {
      if (isAnswer) this.#answered(this.#terms.hostCall.spliceResponse(body));
      else this.#refused(this.#terms.hostCall.readError(this.#status, body));
    } catch (error) {
      const hostError = error instanceof HostResponseBroken ? error.hostError : null;
      if (hostError === null) this.#breakOff((error as Error).message);
      else this.#refused(hostError);
    }
  }

  failed(error: Error): void {
    this.#giveUp(connectionFault(error, this.#terms, this.#control));
  }

  #answered(answer: BufferedResponse): void {
    const gone = this.#terms.sink.gone;
    this.#finish({
      ended: gone ? 'client_gone' : 'complete',
      httpStatus: gone ? CLIENT_GONE_STATUS : 200,
      usage: answer.usage,
      drained: gone,
      contentLeft: true,
      relayedBytes: answer.relayedBytes,
      repeats: repeatsOf(this.#control),
      error: null,
      hostFault: null,
      sign: HOST_WELL,
      retryable: false,
      deliver: (bill, costLines) => this.#send(answer, bill, costLines),
      whole: (bill, costLines) => this.#whole(answer, bill, costLines),
    });
  }

  #send(answer: BufferedResponse, bill: Bill, costLines: string): void {
    const { sink } = this.#terms;
    if (sink.gone) return;
    const { status, lines, body } = this.#whole(answer, bill, costLines);
    sink.head(status, lines, body.length);
    sink.end(body);
  }

  #whole(answer: BufferedResponse, bill: Bill, costLines: string): WholeResponse {
    const lines = `${this.#terms.lines}${costLines}content-type: application/json\r\n`;
    return { status: 200, lines, body: answer.write(bill) };
  }

  #refused(hostError: HostError): void {
    const { error, fault } = readHostFailure(hostError, this.#terms, this.#retryAfterMs, false);
    this.#finish(this.#nothing('failed', error, this.#unlessBegun(fault)));
  }

  #breakOff(words: string): void {
    this.#giveUp({ words, retryable: true, sign: HOST_FAILED });
  }

  #giveUp(fault: HostFault): void {
    this.#control?.cancel();
    if (isClearStatus(this.#status)) this.#refused(this.#terms.hostCall.readError(this.#status, null));
    else {
      const error = errorOfFault(fault, this.#terms.hostCall, false);
      this.#finish(this.#nothing('failed', error, this.#unlessBegun(fault)));
    }
  }

  /** After a 2xx head the host has started to bill, so no other host may be tried. */
  #unlessBegun(fault: HostFault): HostFault {
    return this.#status >= 200 && this.#status < 300 ? { ...fault, retryable: false } : fault;
  }

  #timedOut(): void {
    this.#control?.cancel();
    if (this.#readToEnd) {
      this.#finish(this.#nothing('client_gone', null, null));
      return;
    }
    const waited = `within ${counted(this.#terms.limits.bufferedMs / 1000, 'second')}`;
    const message = `The model did not answer ${waited}; nothing was charged. Stream long answers.`;
    const fault = silenceFault(`no answer ${waited}`, this.#control);
    this.#finish(this.#nothing('timeout', new GatewayError('host_timeout', { message }), fault));
  }

  #shutDown(): void {
    const turnedAway = isUnreached(this.#control);
    this.#control?.cancel();
    const message = 'The gateway is shutting down; nothing was charged. Try again.';
    const error = new GatewayError('shutting_down', { message, retryAfterS: 1 });
    this.#finish({ ...this.#nothing('shutdown', error, null), turnedAway });
  }

  /**
   * The host keeps generating and billing. Read it to the end for its usage, unless its row says that it can be
   * cancelled, or the request has not been sent.
   */
  #clientGone(): void {
    if (this.#over || this.#drainLimit !== null) return;
    if (isUnsent(this.#control)) {
      this.#control?.cancel();
      this.#finish({ ...this.#nothing('client_gone', null, null), turnedAway: true });
    } else if (this.#terms.onClientGone === 'cancel') this.#leaveHost();
    else this.#drainLimit = this.#terms.clock.after(this.#terms.limits.drainMs, () => this.#leaveHost());
  }

  /**
   * Cancels the host if the account's loss allowance covers what it may bill beyond the charge. Otherwise it is read to
   * the call's own limit, and charged then in any case.
   */
  #leaveHost(): void {
    this.#readToEnd = true;
    const cancel = (result: AttemptResult): void => {
      this.#control?.cancel();
      this.#finish(result);
    };
    this.#decision.ask(this.#nothing('client_gone', null, null), cancel, (result) => {
      if (result !== null) this.#finish(result);
    });
  }

  #nothing(ended: Exclude<Ended, 'died'>, error: GatewayError | null, fault: HostFault | null): AttemptResult {
    const gone = this.#terms.sink.gone;
    return {
      ended,
      httpStatus: gone ? CLIENT_GONE_STATUS : (error?.status ?? 500),
      usage: MISSING_USAGE,
      drained: false,
      contentLeft: false,
      relayedBytes: 0,
      repeats: repeatsOf(this.#control),
      error,
      hostFault: fault?.words ?? null,
      turnedAway: fault?.turnedAway === true,
      sign: fault?.sign ?? NOTHING_LEARNED,
      retryable: fault?.retryable === true && !gone,
      deliver: () => {},
    };
  }

  #finish(result: AttemptResult): void {
    if (this.#over || this.#decision.withholds(result)) return;
    this.#over = true;
    this.#timeLimit?.cancel();
    this.#drainLimit?.cancel();
    this.#forgetShutdown();
    this.#resolve(result);
  }
}
