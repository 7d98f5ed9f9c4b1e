import type { ApiError } from '../../api/client.ts';

const WRONG = 'The password is wrong. If you have none, ask an operator for a link that sets one.';

/** On these forms nobody enters an email address, which the words of the API for signing in are about too. */
export function passwordRefusal(error: ApiError | null): ApiError | string | null {
  return error?.code === 'sign_in_failed' ? WRONG : error;
}
