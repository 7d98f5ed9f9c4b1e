import { GatewayError } from '../../canonical/errors.ts';
import type { NumbersById } from '../../kit/numbers-by-id.ts';
import { LIMITS } from '../../limits.ts';
import { type Limited, payerOf } from './account-share.ts';
import { BodyMemory } from './body-memory.ts';

/** The memory of responses, counted by account. */
export function responseMemory(bytes?: NumbersById): BodyMemory {
  return new BodyMemory(bytes, {
    bytesMax: LIMITS.answersBytesMax,
    accountPercent: LIMITS.answersAccountPercent,
  });
}

/**
 * Refuses a caller whose account has left too much unread; null admits it. One whole response is never too much: others may
 * have taken nearly all the memory.
 */
export function refuseUnread(memory: BodyMemory, caller: Limited): GatewayError | null {
  const { accountId } = payerOf(caller);
  return accountId !== null && memory.isFull(accountId, LIMITS.responseBodyBytesMax) ? tooMuchUnread() : null;
}

/** What is not counted of each response, and the steps in which the rest is. */
const FREE_BYTES = LIMITS.answerBytesFree;
const STEP_BYTES = LIMITS.answerBytesFree;

/**
 * The memory that one response takes up: what has arrived and is kept until its end, and what its client has not read. Hosts
 * and clients may both be slow on purpose.
 */
export class ResponseRoom {
  readonly #memory: BodyMemory;
  readonly #accountId: bigint | null;
  #keptBytes = 0;
  #unreadBytes = 0;
  #takenBytes = 0;

  constructor(memory: BodyMemory, caller: Limited | null) {
    this.#memory = memory;
    this.#accountId = payerOf(caller).accountId;
  }

  /** Counts the bytes that are kept now. False, and nothing changes, if there is no memory for them. */
  keep(bytes: number): boolean {
    const keptBytes = bytes <= FREE_BYTES ? 0 : Math.ceil((bytes - FREE_BYTES) / STEP_BYTES) * STEP_BYTES;
    if (keptBytes === this.#keptBytes) return true;
    const moreBytes = keptBytes + this.#unreadBytes - this.#takenBytes;
    if (moreBytes > 0 && !this.#memory.take(null, moreBytes, this.#accountId)) return false;
    this.#keptBytes = keptBytes;
    this.#took(moreBytes);
    return true;
  }

  /** Counts the bytes that wait for the client now, even beyond the limits: they are there already. */
  leaveUnread(bytes: number): void {
    if (bytes === this.#unreadBytes) return;
    this.#unreadBytes = bytes;
    this.#recount();
  }

  /** The whole response was handed over: only what its client has not read is left of it. */
  end(unreadBytes: number): void {
    if (this.#takenBytes === 0 && unreadBytes === 0) return;
    this.#keptBytes = 0;
    this.#unreadBytes = unreadBytes;
    this.#recount();
  }

  #recount(): void {
    const moreBytes = this.#keptBytes + this.#unreadBytes - this.#takenBytes;
    if (moreBytes <= 0 || this.#memory.add(null, moreBytes, this.#accountId)) this.#took(moreBytes);
  }

  #took(moreBytes: number): void {
    if (moreBytes < 0) this.#memory.free(null, -moreBytes, this.#accountId);
    this.#takenBytes += moreBytes;
  }
}

/** The host has worked and may bill, so this is not one of the errors that cost nobody anything. */
export function noRoomForResponse(): GatewayError {
  return new GatewayError('host_failed', {
    message: `There was no memory for this response. All responses that are arriving or unread may take ${LIMITS.answersBytesMax / 1024 / 1024} MB, and those of one account ${LIMITS.answersAccountPercent} percent of what others leave. Ask for less at a time, and read responses to their end.`,
  });
}

function tooMuchUnread(): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `Responses of this account that are arriving, or that its clients have not read, take ${LIMITS.answersAccountPercent} percent or more of the memory that others leave. Read them, or close their connections, then try again.`,
    retryAfterS: 1,
  });
}
