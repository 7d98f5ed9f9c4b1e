import { APICallError } from '@ai-sdk/provider';

/**
 * The AI SDK judges a failure by its status alone, and would repeat a call that was charged. The gateway marks what must
 * not be sent again.
 */
export async function heedingHeader<Result>(call: PromiseLike<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    const isFinal = APICallError.isInstance(error) && error.responseHeaders?.['x-should-retry'] === 'false';
    throw isFinal ? Object.assign(error, { isRetryable: false }) : error;
  }
}
