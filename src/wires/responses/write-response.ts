import type { CanonicalResponse } from '../../canonical/events.ts';
import { unfold } from '../../canonical/fold.ts';
import type { Bill } from '../bill.ts';
import type { WriteTerms } from '../hub.ts';
import { billedUsageText } from './usage.ts';
import { ResponseWriter } from './write-stream.ts';

/** Writes a buffered response: the response object of the last stream event, with its cost. */
export function writeResponse(answer: CanonicalResponse, bill: Bill, terms: WriteTerms): Buffer {
  const writer = new ResponseWriter(terms);
  unfold(answer, (event) => writer.event(event));
  const { usage: _, ...response } = writer.response();
  return Buffer.from(`${JSON.stringify(response).slice(0, -1)},"usage":${billedUsageText(bill, null)}}`);
}
