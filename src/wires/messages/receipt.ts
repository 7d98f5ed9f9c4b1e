import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import { stringifyJson } from '../../json/stringify.ts';
import type { Bill } from '../bill.ts';
import { frameText } from './frames.ts';
import { writeUsage } from './usage.ts';

const RECEIPT_EVENT = 'gateway_receipt';
const RECEIPT_HEADER = 'x-gateway-receipt-event';

/** A receipt event from a host, which must not be passed on as ours. */
export function isReceipt(type: string): boolean {
  return type === RECEIPT_EVENT;
}

/** Some clients treat unknown events as errors, so a caller can switch the receipt event off. */
export function wantsReceipt(headers: IncomingHttpHeaders): boolean {
  const asked = headers[RECEIPT_HEADER];
  if (asked === undefined) return true;
  if (asked === 'none') return false;
  throw new GatewayError('invalid_header', {
    param: RECEIPT_HEADER,
    message: `\`${RECEIPT_HEADER}\` must be "none", or left out.`,
  });
}

interface ReceiptTerms {
  readonly requestId: string;
  readonly catalogModel: string;
  /** Whether the caller wants the receipt event, which is the usage frame of this wire. */
  readonly wantsUsageFrame: boolean;
}

/** The last frame of a stream: its cost, which was unknown when the headers were sent. */
export function receiptFrame({ usage, costNanousd, components }: Bill, terms: ReceiptTerms): string {
  if (!terms.wantsUsageFrame) return '';
  const receipt = {
    type: RECEIPT_EVENT,
    request_id: terms.requestId,
    model: terms.catalogModel,
    cost_nanousd: costNanousd,
    components: components && {
      fresh: components.freshNanousd,
      cache_write: components.cacheWriteNanousd,
      cache_read: components.cacheReadNanousd,
      output: components.outputNanousd,
    },
    usage: writeUsage(usage, null),
  };
  return frameText(RECEIPT_EVENT, stringifyJson(receipt));
}
