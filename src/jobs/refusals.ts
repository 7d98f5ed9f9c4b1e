import { GatewayError } from '../canonical/errors.ts';
import { IDEMPOTENCY_HEADER } from '../gateway/idempotency.ts';
import type { HoldRefused } from '../gateway/take-money.ts';
import type { ReserveResult } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';

type ReserveRefused = Extract<ReserveResult, { kind: 'reserve_refused' }>;

/** A refusal for money is like that of a hold. Others are thrown. */
export function asHoldRefused({ reason, availableNanousd }: ReserveRefused): HoldRefused {
  switch (reason) {
    case 'too_many_jobs':
      throw new GatewayError('job_limit_exceeded', {
        message: `This account has too many jobs waiting: at most ${LIMITS.jobsWaitingMax}. Submit more when some have ended.`,
      });
    case 'too_many_bytes':
      throw new GatewayError('job_limit_exceeded', {
        message: `The requests and results of this account's jobs take too much space: at most ${LIMITS.jobBytesMax} bytes. Delete results that you have read.`,
      });
    case 'not_staged':
      throw new GatewayError('internal_error', { message: 'The job could not be stored. Submit it again.' });
    default:
      return { kind: 'hold_refused', reason, availableNanousd };
  }
}

export function streamedJob(): GatewayError {
  return new GatewayError('unsupported_feature', {
    param: 'body.stream',
    message:
      '`body.stream` must be absent or false: the response of a job is stored whole. GET its result when it has ended.',
  });
}

export function noJob(): GatewayError {
  return new GatewayError('job_not_found', {
    message: 'There is no job with this id that this key may see. GET /v1/jobs lists its jobs.',
  });
}

export function noGroup(): GatewayError {
  return new GatewayError('job_group_not_found', {
    message: 'There is no group of jobs with this id that this key may see.',
  });
}

/** Why a job waits although its time has come. */
export const WAITS_FOR = {
  loss_allowance: {
    code: 'loss_allowance_used_up',
    message:
      'The loss allowance of the account is used up (GET /v1/balance). A job whose prompt was counted starts in an hour in which it is not.',
  },
  key_inactive: { code: 'key_inactive', message: 'The key of the job is disabled or has expired.' },
  account_suspended: { code: 'account_suspended', message: 'The account of the job is suspended.' },
} as const;

/** The key of a submission is kept until its results would have expired; its row may be deleted before that. */
export function forgottenRepeat(): GatewayError {
  return new GatewayError('idempotency_finished', {
    param: IDEMPOTENCY_HEADER,
    message:
      'What was submitted with this key has ended, and its row was deleted; nothing more was reserved. Use a new key to submit it again.',
  });
}

/** The same error, with the number of the group's line in front of its message. */
export function atLine(line: number, error: unknown): unknown {
  return error instanceof GatewayError ? error.with({ message: `Line ${line}: ${error.message}` }) : error;
}
