import { GatewayError } from '../canonical/errors.ts';
import { refuseOtherCeilings } from '../gateway/foreign-headers.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { refusalOfHold } from '../gateway/hold-refusal.ts';
import { IDEMPOTENCY_HEADER } from '../gateway/idempotency.ts';
import { CEILING_HEADER, readCeiling } from '../gateway/read-call.ts';
import type { Admitted } from '../gateway/understand.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { ReserveResult } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { describeAmount } from '../money/nanousd.ts';
import { isAmount } from '../store/int64.ts';
import type { JobChunk, JobGroup, NewJob, NewJobGroup } from '../store/jobs.ts';
import { admitJob, newJob, withoutHeaders } from './admit-job.ts';
import type { JobServices } from './job.ts';
import { unlimitedBodies } from './job-call.ts';
import type { Accepted, GroupIntake, GroupRequest, JobTerms, Submission } from './jobs.ts';
import { isAllowanceUsedUp } from './loss-allowance.ts';
import { asHoldRefused, atLine, forgottenRepeat } from './refusals.ts';
import { NO_HASH, readMark, readRepeat } from './repeats.ts';
import { stageSlice } from './stage-slice.ts';

interface IntakeTerms {
  readonly services: JobServices;
  readonly submission: Submission;
  readonly terms: JobTerms;
}

/** Opens a group: its row first, so that what is staged for it can be found and swept. */
export async function openGroup(intake: IntakeTerms): Promise<GroupIntake> {
  const { services, submission, terms } = intake;
  const { gateway, store } = services;
  const { accountId, keyId, key } = submission.caller;
  readMark(submission.headers, NO_HASH);
  refuseOtherCeilings(submission.headers);
  const ceilingNanousd = readCeiling(submission.headers);
  const group: NewJobGroup = {
    ...{ id: gateway.ids.next(), accountId, keyId, personId: key?.personId ?? null, createdMs: gateway.clock.nowMs() },
    webhook: terms.webhook,
    metadataJson: terms.metadata === null ? null : stringifyJson(terms.metadata),
  };
  await store.createGroup(group);
  return new StagedGroup(intake, group, ceilingNanousd);
}

class StagedGroup implements GroupIntake {
  readonly #intake: IntakeTerms;
  readonly #group: NewJobGroup;
  readonly #ceilingNanousd: bigint | null;
  /** The ceiling is for the group, and so is the idempotency key. */
  readonly #lineSubmission: Submission;
  /** The sender's bytes are limited as a whole, by the size of a group. */
  readonly #gateway: Gateway;
  /** Lines that are admitted and not stored yet. */
  readonly #jobs: NewJob[] = [];
  readonly #chunks: JobChunk[] = [];
  #bytes = 0;
  /** Of all lines, and of their requests. */
  #lines = 0;
  #requestBytes = 0;
  /** The slice that is being stored. */
  #staging: Promise<void> = Promise.resolve();
  /** Whether lines go by bytes: asked once for each slice. */
  #isAllowanceUsedUp: Promise<boolean> | null = null;
  #sumNanousd = 0n;
  #keepUntilMs = 0;

  constructor(intake: IntakeTerms, group: NewJobGroup, ceilingNanousd: bigint | null) {
    const { gateway } = intake.services;
    const { submission } = intake;
    this.#intake = intake;
    this.#group = group;
    this.#ceilingNanousd = ceilingNanousd;
    const headers = withoutHeaders(submission.headers, [CEILING_HEADER, IDEMPOTENCY_HEADER]);
    this.#lineSubmission = { ...submission, headers };
    this.#gateway = { ...gateway, bodyBudgets: unlimitedBodies(gateway) };
  }

  async add(requests: Iterable<GroupRequest>): Promise<void> {
    for (const request of requests) {
      const { job, chunks } = await this.#admit(request);
      const isFull = this.#bytes + job.request.bytes > LIMITS.jobStageBytesMax;
      if (isFull || this.#jobs.length >= LIMITS.jobStageRowsMax) await this.#stage();
      this.#jobs.push(job);
      this.#chunks.push(...chunks);
      this.#bytes += job.request.bytes;
      await this.#intake.services.yieldToCalls();
    }
  }

  /** Begins to store what was admitted, once the previous slice is stored; the next lines are checked in the meantime. */
  async #stage(): Promise<void> {
    await this.#staging;
    const [jobs, chunks] = [this.#jobs.splice(0), this.#chunks.splice(0)];
    this.#bytes = 0;
    this.#isAllowanceUsedUp = null;
    if (jobs.length === 0) return;
    this.#staging = stageSlice(this.#intake.services, jobs, chunks);
    // If it fails, the caller that stores the next slice or accepts the group gets the error.
    this.#staging.catch(() => undefined);
  }

  async #admit(request: GroupRequest): Promise<{ job: NewJob; chunks: readonly JobChunk[] }> {
    const { services, terms } = this.#intake;
    const { contents, endpoints } = services;
    let admitted: Admitted;
    try {
      admitted = await this.#withinAllowance(await admitJob(this.#gateway, endpoints, this.#lineSubmission, request));
      checkLineCeiling(admitted);
      this.#add(admitted.admission.worstNanousd);
    } catch (error) {
      throw atLine(request.line, error);
    }
    const { ids, clock } = this.#gateway;
    const id = ids.next();
    const { content, chunks } = contents.sealRequest(id, request.body);
    const place = { id, groupId: this.#group.id, line: request.line, nowMs: clock.nowMs() };
    const job = newJob(admitted, request, terms, place, content);
    this.#lines += 1;
    this.#requestBytes += job.request.bytes;
    this.#keepUntilMs = Math.max(this.#keepUntilMs, job.expiresMs + job.resultTtlMs);
    return { job, chunks };
  }

  /** Before it is stored: no engine stores a sum that is out of range. */
  #add(amountNanousd: bigint): void {
    this.#sumNanousd += amountNanousd;
    if (isAmount(this.#sumNanousd)) return;
    const sum = describeAmount(this.#sumNanousd);
    throw new GatewayError('invalid_value', {
      param: 'body',
      message: `With this line the group could cost up to ${sum}, more than any account can hold. Send fewer lines, or lower their output limits.`,
    });
  }

  async #withinAllowance(admitted: Admitted): Promise<Admitted> {
    const { counted } = admitted.admission;
    if (counted === null) return admitted;
    this.#isAllowanceUsedUp ??= isAllowanceUsedUp(this.#gateway, this.#group.accountId);
    return (await this.#isAllowanceUsedUp) ? { ...admitted, admission: counted.byBytes, countRefused: true } : admitted;
  }

  async accept(bodySha256: Uint8Array): Promise<Accepted<JobGroup>> {
    const { services, submission } = this.#intake;
    const { accountId, keyId, key } = submission.caller;
    await this.#stage();
    await this.#staging;
    const taken = await services.ledger.reserve({
      ...{ id: this.#group.id, isGroup: true, accountId, keyId, personId: key?.personId ?? null },
      ...{ amountNanousd: this.#sumNanousd, ceilingNanousd: this.#ceilingNanousd, keepKeyUntilMs: this.#keepUntilMs },
      idempotency: readMark(submission.headers, bodySha256),
    });
    if (taken.kind !== 'reserved') await this.abandon();
    if (taken.kind === 'reserve_refused') throw this.#refusalOf(taken);
    if (taken.kind === 'reserved') return { accepted: await this.#activated(), replayed: false };
    const repeated = await services.store.findGroup(readRepeat(taken), accountId);
    if (repeated === null) throw forgottenRepeat();
    return { accepted: repeated, replayed: true };
  }

  /**
   * It is accepted, so its client must not send it again, even if it cannot be read now: what fails here is continued by
   * the next housekeeping.
   */
  async #activated(): Promise<JobGroup> {
    const { services } = this.#intake;
    const { id, accountId } = this.#group;
    await activate(services, id).catch(() => undefined);
    const read = await services.store.findGroup(id, accountId).catch(() => null);
    return read ?? this.#acceptedGroup();
  }

  /** As it is stored when it was just accepted. */
  #acceptedGroup(): JobGroup {
    return {
      ...this.#group,
      acceptedMs: this.#gateway.clock.nowMs(),
      isActive: false,
      finishedMs: null,
      lines: this.#lines,
      reservedNanousd: this.#sumNanousd,
      chargedNanousd: 0n,
      bytes: this.#requestBytes,
      counts: { waiting: this.#lines, running: 0, succeeded: 0, failed: 0, cancelled: 0, expired: 0 },
    };
  }

  /** In slices, so that live calls do not wait for a large group. */
  async abandon(): Promise<void> {
    const { store, yieldToCalls } = this.#intake.services;
    await this.#staging.catch(() => undefined);
    for (let slice = 0; slice < LIMITS.jobActivationsMax; slice++) {
      if (!(await store.dropStaged(this.#group.id))) return;
      await yieldToCalls();
    }
  }

  #refusalOf(refused: Extract<ReserveResult, { kind: 'reserve_refused' }>): GatewayError {
    const { reason, availableNanousd } = asHoldRefused(refused);
    const available = describeAmount(availableNanousd ?? 0n);
    const worst = `This group could cost up to ${describeAmount(this.#sumNanousd)}`;
    const amounts = { worstNanousd: this.#sumNanousd, availableNanousd };
    const remedy = 'Nothing was reserved. Send fewer lines, or lower their output limits';
    switch (reason) {
      case 'cost_ceiling':
        return new GatewayError('cost_ceiling_exceeded', {
          param: CEILING_HEADER,
          message: `${worst}, more than its ceiling of ${available}. ${remedy}; or raise the ceiling.`,
          amounts,
        });
      case 'key_cap':
      case 'person_cap': {
        const whose = reason === 'key_cap' ? "this key's spend cap" : "the spend cap of this key's person";
        const message = `${worst}; ${whose} leaves ${available}. ${remedy}; or raise the cap.`;
        return new GatewayError('key_spend_cap_exceeded', { message, amounts });
      }
      case 'balance':
        return new GatewayError('insufficient_allowance', {
          message: `${worst}; the balance leaves ${available}. ${remedy}; or add credit.`,
          amounts,
        });
      default:
        return new GatewayError('account_suspended', {
          message: `The group was not accepted: ${reason.replaceAll('_', ' ')}. Nothing was reserved.`,
        });
    }
  }
}

/** Makes all lines of an accepted group jobs. Another process goes on with it if this one dies. */
export async function activate(
  { store, yieldToCalls }: Pick<JobServices, 'store' | 'yieldToCalls'>,
  groupId: bigint,
): Promise<void> {
  for (let turn = 0; turn < LIMITS.jobActivationsMax; turn++) {
    if ((await store.activate(groupId)) === 0) return;
    await yieldToCalls();
  }
}

/** The key's limit for one call applies to each line. */
function checkLineCeiling({ admission, ceilingNanousd, call, peek, countRefused }: Admitted): void {
  if (ceilingNanousd === null || admission.worstNanousd <= ceilingNanousd) return;
  const keyCeilingNanousd = call.caller.key?.maxCostNanousd ?? null;
  const refused = { reason: 'cost_ceiling', availableNanousd: ceilingNanousd, keyCeilingNanousd } as const;
  throw refusalOfHold(refused, admission, peek, countRefused);
}
