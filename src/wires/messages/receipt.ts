import { stringifyJson } from '../../kit/json-stringify.ts';
import type { Bill } from '../wire.ts';
import { frameText } from './frames.ts';
import { writeUsage } from './usage.ts';

const RECEIPT_EVENT = 'gateway_receipt';

/** A host that is such a gateway itself must not be able to speak for this one. */
export function isReceipt(type: string): boolean {
  return type === RECEIPT_EVENT;
}

/** The last frame of a stream: what it cost, which no header could say when the stream began. */
export function receiptFrame({ usage, costNanousd, components }: Bill, requestId: string, model: string): string {
  const receipt = {
    type: RECEIPT_EVENT,
    request_id: requestId,
    model,
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
