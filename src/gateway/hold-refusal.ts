import { invalidKey } from '../accounts/authenticate.ts';
import { GatewayError } from '../canonical/errors.ts';
import { describeAmount } from '../money/nanousd.ts';
import { largestOutputLimit } from '../money/worst-case.ts';
import type { HoldRefusal } from '../store/store.ts';
import { limitFieldOf, type Peek } from '../wires/peek.ts';
import type { Admission } from './admit.ts';
import { CEILING_HEADER } from './read-call.ts';

interface RefusedHold {
  readonly reason: HoldRefusal;
  readonly availableNanousd: bigint | null;
  /** What one call with the key may cost; absent or null without a limit. */
  readonly keyCeilingNanousd?: bigint | null;
}

/** States what the call could cost, what is available, and the largest output limit that would fit. */
export function refusalOfHold(
  { reason, availableNanousd, keyCeilingNanousd = null }: RefusedHold,
  admission: Admission,
  peek: Peek,
  countRefused = false,
): GatewayError {
  const bytes = countRefused ? BY_BYTES : '';
  const worst = `This call could cost up to ${describeAmount(admission.worstNanousd)}${bytes}`;
  const available = describeAmount(availableNanousd ?? 0n);
  const remedy = remedyFor(reason, admission, peek, availableNanousd ?? 0n);
  const amounts = { worstNanousd: admission.worstNanousd, availableNanousd };
  switch (reason) {
    case 'cost_ceiling':
      if (keyCeilingNanousd === availableNanousd) {
        const limit = `more than this key's limit of ${available} for one call`;
        const keyRemedy = remedyFor('key_ceiling', admission, peek, availableNanousd ?? 0n);
        return new GatewayError('cost_ceiling_exceeded', { message: `${worst}, ${limit}. ${keyRemedy}`, amounts });
      }
      return new GatewayError('cost_ceiling_exceeded', {
        param: CEILING_HEADER,
        message: `${worst}, more than its ceiling of ${available}. ${remedy}`,
        amounts,
      });
    case 'key_cap':
      return new GatewayError('key_spend_cap_exceeded', {
        message: `${worst}; this key's spend cap leaves ${available}. ${remedy}`,
        amounts: { ...amounts, cap: 'key' },
      });
    case 'person_cap':
      return new GatewayError('key_spend_cap_exceeded', {
        message: `${worst}; the spend cap of this key's person leaves ${available} for all their keys. ${remedy}`,
        amounts: { ...amounts, cap: 'person' },
      });
    case 'balance':
      return new GatewayError('insufficient_allowance', {
        message: `${worst}; the balance leaves ${available}. ${remedy}`,
        amounts,
      });
    case 'out_of_range':
      return new GatewayError('invalid_value', {
        param: peek.outputLimit?.field ?? 'model',
        message: `${worst}, more than any account can hold. Lower the output limit.`,
      });
    case 'key_inactive':
    case 'no_account':
      return invalidKey();
    case 'account_suspended':
    case 'account_closed':
      return inactiveAccount(reason);
    case 'loss_allowance':
    case 'stale_epoch':
      return new GatewayError('store_unavailable', {
        message: 'This gateway process is registering with the database again. Try again in a moment.',
        retryAfterS: 1,
      });
  }
}

export function inactiveAccount(reason: 'account_suspended' | 'account_closed'): GatewayError {
  const message =
    reason === 'account_suspended'
      ? 'This account is suspended. Nothing was charged. Ask the operator of this gateway to resume it.'
      : 'This account is closed for good. Nothing was charged. Use a key of another account.';
  return new GatewayError('account_suspended', { message });
}

const BY_BYTES =
  ' by the bytes of its prompt, which is not counted while the loss allowance of this account is used up (GET /v1/balance)';

/** The remedy for each refusal, besides a lower output limit. */
const RAISE: Readonly<Record<string, string>> = {
  cost_ceiling: 'raise the ceiling',
  key_ceiling: "raise the key's limit",
  key_cap: "raise the key's cap or wait for its next window",
  person_cap: "raise the person's cap or wait for its next window",
  balance: 'add credit',
};

function remedyFor(
  reason: HoldRefusal | 'key_ceiling',
  admission: Admission,
  peek: Peek,
  availableNanousd: bigint,
): string {
  const { model, inputBound, tierBound, cacheWrites, answers } = admission;
  const largest = largestOutputLimit({
    price: model.price,
    inputBound,
    tierBound,
    cacheWrites,
    availableNanousd,
    choices: answers,
  });
  const field = limitFieldOf(peek);
  const raise = RAISE[reason] ?? 'ask for less';
  if (largest === null || model.maxOutputTokens === 0) return `Nothing was charged. Shorten the prompt, or ${raise}.`;
  return `Nothing was charged. The largest ${field} that would fit is ${Math.min(largest, model.maxOutputTokens)}; or ${raise}.`;
}
