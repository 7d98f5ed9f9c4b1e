import type { AskedUsage, Choice } from '../../answer.ts';
import { ENDLESS_TEXT, endlessBody } from '../../endless.ts';
import type { Spent } from '../../frame-list.ts';
import type { Refusal, SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { isWithheld } from '../../usage-fault.ts';
import { composeOutput, writeItem } from './output.ts';
import type { ResponsesRequest } from './request.ts';
import { writeUsage } from './usage.ts';

/** The state of a response; the rest of it repeats the request. */
interface Standing {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly object[];
  readonly reason?: string;
  readonly error?: Refusal;
  /** JSON; `null` where there is none. */
  readonly usage: string;
}

/** Writes one response any number of times, with the same id and time. */
export class ResponseWriter {
  readonly #request: ResponsesRequest;
  readonly #opening: object;
  readonly #nowSeconds: number;

  constructor(request: ResponsesRequest, host: SimHost) {
    this.#request = request;
    this.#nowSeconds = host.nowSeconds();
    this.#opening = { id: host.mintId('resp_'), object: 'response', created_at: this.#nowSeconds };
  }

  write({ status, output, reason, error, usage }: Standing): string {
    const json = JSON.stringify({
      ...this.#opening,
      status,
      completed_at: status === 'completed' ? this.#nowSeconds : null,
      error: error === undefined ? null : { code: error.code ?? 'server_error', message: error.message },
      incomplete_details: reason === undefined ? null : { reason },
      output,
      service_tier: status === 'in_progress' ? 'auto' : 'default',
      ...this.#request.echo,
    });
    return `${json.slice(0, -1)},"usage":${usage}}`;
  }
}

/** How the answer ended, for a whole response and for the last event of a stream. */
export function endingOf(choice: Choice, script: SimScript): Pick<Standing, 'status' | 'reason'> {
  const reason = script.finish ?? (choice.finish === 'length' ? 'max_output_tokens' : undefined);
  return reason === undefined ? { status: 'completed' } : { status: 'incomplete', reason };
}

export function finalUsage(asked: AskedUsage, spent: Spent, script: SimScript): string {
  return isWithheld(script.usage) ? 'null' : writeUsage(asked, spent, script.usage);
}

/** The answer as one JSON body. */
export function writeResponse(
  request: ResponsesRequest,
  choice: Choice,
  asked: AskedUsage,
  script: SimScript,
  host: SimHost,
): string {
  const output = composeOutput(choice, request, host).map((item) => writeItem(item, 'completed'));
  const usage = finalUsage(asked, choice, script);
  return new ResponseWriter(request, host).write({ ...endingOf(choice, script), output, usage });
}

export function writeEndlessResponse(request: ResponsesRequest, host: SimHost): Iterable<string> {
  const opening = new ResponseWriter(request, host).write({ status: 'completed', output: [], usage: 'null' });
  return endlessBody(`${opening.slice(0, -1)},"text_so_far":"`, ENDLESS_TEXT);
}
