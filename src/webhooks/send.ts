import type { IncomingHttpHeaders } from 'node:http';
import { EgressFailure, ForbiddenUrl } from '../egress/forbidden-url.ts';
import type { GuardedEgress } from '../egress/guarded-egress.ts';
import type { RequestControl, ResponseReceiver } from '../egress/sender.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';

/** How one attempt ended. The message may be shown to the person who set the URL. */
export interface Attempt {
  readonly httpStatus: number | null;
  /** Null if the receiver accepted the delivery. */
  readonly error: string | null;
}

interface PostTerms {
  readonly egress: Pick<GuardedEgress, 'recall' | 'send'>;
  readonly clock: Clock;
  /** Aborts the attempt. */
  readonly stopping: AbortSignal;
}

/** Posts a body to a URL that a caller named. The answer counts by its status; its body is not kept. It never throws. */
export async function post(
  { egress, clock, stopping }: PostTerms,
  urlText: string,
  headers: Record<string, string>,
  body: string,
): Promise<Attempt> {
  // A signal that was aborted earlier does not notify new listeners.
  if (stopping.aborted) return { httpStatus: null, error: STOPPED };
  const answer = new AnsweredStatus();
  const timer = clock.after(LIMITS.webhookAnswerMs, () =>
    answer.giveUp(`The receiver did not answer within ${LIMITS.webhookAnswerMs / 1000} s.`),
  );
  const breakOff = (): void => answer.giveUp(STOPPED);
  stopping.addEventListener('abort', breakOff);
  try {
    const url = egress.recall(urlText);
    const request = { headers: { 'content-type': 'application/json', 'user-agent': 'tollgate', ...headers } };
    answer.control = egress.send(url, { ...request, body: Buffer.from(body) }, answer);
    return await answer.attempt;
  } catch (error) {
    return { httpStatus: null, error: describe(error as Error) };
  } finally {
    timer.cancel();
    stopping.removeEventListener('abort', breakOff);
  }
}

const STOPPED = 'The gateway stopped.';

function describe(error: Error): string {
  const isForCaller = error instanceof ForbiddenUrl || error instanceof EgressFailure;
  return isForCaller ? error.message : 'The receiver broke the connection.';
}

/** Reads the status and throws the rest away. A status of 2xx means accepted, whatever becomes of the rest. */
class AnsweredStatus implements ResponseReceiver {
  readonly #attempt = Promise.withResolvers<Attempt>();
  #status: number | null = null;
  #bytes = 0;
  control: RequestControl | null = null;

  get attempt(): Promise<Attempt> {
    return this.#attempt.promise;
  }

  giveUp(error: string): void {
    this.control?.cancel();
    this.#over(error);
  }

  head(status: number, _headers: IncomingHttpHeaders): void {
    this.#status = status;
  }

  /** An endless answer would keep its connection for ever. */
  data(chunks: readonly Buffer[]): void {
    for (const chunk of chunks) this.#bytes += chunk.length;
    if (this.#bytes <= LIMITS.webhookAnswerBytesMax) return;
    this.control?.cancel();
    this.end();
  }

  end(): void {
    this.#over(`The receiver answered with status ${this.#status}; it must be 2xx.`);
  }

  failed(error: Error): void {
    this.#over(describe(error));
  }

  #over(error: string): void {
    const httpStatus = this.#status;
    const isAccepted = httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
    this.#attempt.resolve({ httpStatus, error: isAccepted ? null : error });
  }
}
