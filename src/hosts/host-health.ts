import { LIMITS } from '../limits.ts';
import { FailureWindow } from './failure-window.ts';
import type { HealthSettings } from './health-settings.ts';
import type { HostEvent, HostNews, HostSign } from './host-sign.ts';
import { RefusalStreak } from './refusal-streak.ts';

/** Who may use a host: any call, one probing call, only calls without another host, or none. */
export type Availability = 'open' | 'probe' | 'aside' | 'closed';

/** The state that operators see. */
export type HostState = 'well' | 'limited' | 'ejected' | 'key_refused' | 'probing';

type EjectionCause = 'failures' | 'failure_rate' | 'overruns';

/** After this long, an overrun starts a new count. */
const OVERRUN_MEMORY_MS = 600_000;
/** Weight of the newest call in the average time to first byte. */
const NEWEST_WEIGHT = 0.1;

/**
 * The health of one host. It is `well`, or `out` for a while; then one call, the probe, decides. Every call takes a
 * ticket, and its outcome counts only if nothing was decided meanwhile: fifty calls that fail together are one ejection,
 * and the good end of an old stream does not readmit an ejected host.
 */
export class HostHealth {
  readonly host: string;
  /** A host without a key has none that could be rejected. */
  hasKey = false;
  readonly #settings: HealthSettings;
  readonly #tell: (event: HostEvent) => void;
  readonly #share: (news: HostNews) => void;
  readonly #window: FailureWindow;
  #state: 'well' | 'out' | 'probing' = 'well';
  #keyRefused = false;
  #epoch = 0;
  #outUntilMs = 0;
  /** Until when other calls wait for the probe of a rejected key. */
  #probeUntilMs = 0;
  /** Until when another thread's probe is waited for. Not longer: news of it may be older than a decision here. */
  #probedElsewhereUntilMs = 0;
  #timesOut = 0;
  #backSinceMs = Number.NEGATIVE_INFINITY;
  #consecutive = 0;
  #limitedUntilMs = 0;
  readonly #refusals = new RefusalStreak();
  #pausedUntilMs = 0;
  /** Refusals since the host last served anyone, of whichever accounts and threads. */
  #refusedSinceServed = 0;
  #overruns = 0;
  #lastOverrunMs = Number.NEGATIVE_INFINITY;
  #firstByteMs: number | null = null;
  /** Models that the host does not know, and until when that is believed. */
  readonly #absentModels = new Map<string, number>();

  /** Events are reported to the operator; `share` passes on what the other threads need. */
  constructor(
    host: string,
    settings: HealthSettings,
    tell: (event: HostEvent) => void,
    share: (news: HostNews) => void = () => {},
  ) {
    this.host = host;
    this.#settings = settings;
    this.#tell = tell;
    this.#share = share;
    this.#window = new FailureWindow(settings.windowMs);
  }

  /** True if the host has no restriction at all: the only question for a model with a single host. */
  get untroubled(): boolean {
    return this.#state === 'well';
  }

  availability(model: string, nowMs: number): Availability {
    if (this.#state === 'well') return this.#isAside(model, nowMs) ? 'aside' : 'open';
    if (this.#isDue(nowMs)) return 'probe';
    return this.#keyRefused ? 'closed' : 'aside';
  }

  /** How long until the host may be used again; 0 unless its key was rejected. */
  closedForMs(nowMs: number): number {
    return this.#state === 'out' && this.#keyRefused ? Math.max(0, this.#outUntilMs - nowMs) : 0;
  }

  state(nowMs: number): HostState {
    if (this.#state === 'probing') return 'probing';
    if (this.#state === 'out' && this.#isProbedElsewhere(nowMs)) return 'probing';
    if (this.#state === 'out') return this.#keyRefused ? 'key_refused' : 'ejected';
    return nowMs < this.#limitedUntilMs ? 'limited' : 'well';
  }

  /**
   * True if our account there probably cannot pay, or lacks a permission, until the host serves someone. One account is
   * enough, unlike for a pause, because this takes the host from nobody.
   */
  get isRefusing(): boolean {
    return this.#pausedUntilMs > 0 || this.#refusedSinceServed >= LIMITS.hostRefusalsToReport;
  }

  /** Models that the host is remembered not to know. */
  get modelsAside(): number {
    return this.#absentModels.size;
  }

  /** Average time to first byte of recent streams; null before the first. */
  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  /** A call is about to use this host. If its ejection is over, this call is the probe. */
  enter(nowMs: number): number {
    if (this.#isDue(nowMs)) {
      // If a probe takes long, the result of either counts.
      if (this.#state === 'out') this.#epoch++;
      this.#state = 'probing';
      this.#probeUntilMs = nowMs + this.#settings.ejectionMs;
      this.#tell({ kind: 'probed', host: this.host });
    }
    return this.#epoch;
  }

  /** True if the host is closed to all others until this call has shown whether the key is accepted again. */
  probesKey(ticket: number): boolean {
    return ticket === this.#epoch && this.#state === 'probing' && this.#keyRefused;
  }

  /** The host has begun a good answer. Other calls need not wait for its end, which may take as long as a stream. */
  keyAccepted(ticket: number, nowMs: number): void {
    if (this.probesKey(ticket)) this.#return(nowMs);
  }

  /** No call can use a host whose key was rejected, so its probe is waited for only so long. */
  #isDue(nowMs: number): boolean {
    if (this.#state === 'probing') return this.#keyRefused && nowMs >= this.#probeUntilMs;
    return this.#state === 'out' && nowMs >= this.#outUntilMs && nowMs >= this.#probedElsewhereUntilMs;
  }

  #isProbedElsewhere(nowMs: number): boolean {
    return nowMs >= this.#outUntilMs && nowMs < this.#probedElsewhereUntilMs;
  }

  /**
   * Learns from the outcome of a call of that account. `hasSpare` says whether the model has another usable host: the last
   * one is never ejected.
   */
  note(ticket: number, sign: HostSign, nowMs: number, accountId: bigint, hasSpare: () => boolean): void {
    if (sign.kind === 'model_unknown') this.#setModelAside(sign.model, nowMs);
    if (ticket !== this.#epoch) return;
    switch (sign.kind) {
      case 'well':
        this.#answered(nowMs, sign.firstByteMs, hasSpare);
        return;
      case 'failed':
        this.#failed(nowMs, hasSpare);
        return;
      case 'limited':
        this.#setLimit(sign.retryAfterMs, nowMs);
        return;
      case 'key_refused':
        if (this.hasKey) this.#refuseKey(sign.status, nowMs);
        else this.#failed(nowMs, hasSpare);
        return;
      case 'refused':
        this.#refused(sign.status, nowMs, accountId);
        return;
      case 'model_unknown':
        this.#return(nowMs);
        return;
      case 'nothing':
        // If the probe has no result, the next call decides.
        if (this.#state !== 'probing') return;
        this.#state = 'out';
        this.#share({ host: this.host, kind: 'unprobed' });
    }
  }

  /**
   * Takes over what another thread has decided about the host, and counts what that one counted. The failure rate is the
   * exception: each thread judges it by its own calls.
   */
  adopt(news: HostNews, nowMs: number): void {
    switch (news.kind) {
      case 'ejected':
        this.#timesOut = news.times;
        this.#putOut(news.forMs, nowMs);
        return;
      case 'key_set_aside':
        this.#putOut(news.forMs, nowMs);
        this.#keyRefused = true;
        return;
      case 'probed':
        this.#probedElsewhereUntilMs = nowMs + this.#settings.ejectionMs;
        return;
      case 'unprobed':
        this.#probedElsewhereUntilMs = 0;
        return;
      case 'returned':
        this.#putBack(nowMs);
        return;
      case 'limited':
        this.#limitedUntilMs = Math.max(this.#limitedUntilMs, nowMs + news.forMs);
        return;
      case 'refused':
        this.#refusedSinceServed++;
        if (news.forMs > 0) this.#pausedUntilMs = nowMs + news.forMs;
        return;
      case 'model_set_aside':
        this.#noteAbsent(news.model, news.forMs, nowMs);
        return;
      case 'failed':
        this.#consecutive++;
        return;
      case 'overran':
        this.#countOverrun(nowMs);
        return;
      case 'answered':
        this.#startOver();
    }
  }

  /** The host reported more tokens than the call could use. Once may be a mistake; repeated overruns cost the operator. */
  overran(nowMs: number, hasSpare: () => boolean): void {
    this.#countOverrun(nowMs);
    this.#share({ host: this.host, kind: 'overran' });
    if (this.#state !== 'well' || this.#overruns < this.#settings.overruns || !hasSpare()) return;
    this.#eject('overruns', nowMs);
  }

  #countOverrun(nowMs: number): void {
    const isNewCount = nowMs - this.#lastOverrunMs > OVERRUN_MEMORY_MS;
    this.#overruns = isNewCount ? 1 : this.#overruns + 1;
    this.#lastOverrunMs = nowMs;
  }

  /** A reload may bring a new key or model, so rejected ones are tried again. */
  forgetRefusals(nowMs: number): void {
    this.#refusals.clear();
    this.#refusedSinceServed = 0;
    this.#pausedUntilMs = 0;
    this.#absentModels.clear();
    if (this.#keyRefused) this.#return(nowMs);
  }

  #isAside(model: string, nowMs: number): boolean {
    if (nowMs < this.#limitedUntilMs || nowMs < this.#pausedUntilMs) return true;
    return this.#absentModels.size > 0 && nowMs < (this.#absentModels.get(model) ?? 0);
  }

  #answered(nowMs: number, firstByteMs: number | null, hasSpare: () => boolean): void {
    if (firstByteMs !== null) {
      const before = this.#firstByteMs ?? firstByteMs;
      this.#firstByteMs = before + (firstByteMs - before) * NEWEST_WEIGHT;
      if (firstByteMs > this.#settings.slowFirstByteMs) {
        this.#failed(nowMs, hasSpare);
        return;
      }
    }
    if (this.#state !== 'well') this.#return(nowMs);
    // Most answers need not be shared, because nothing had failed.
    if (this.#consecutive > 0 || this.#pausedUntilMs > 0 || this.#refusedSinceServed > 0)
      this.#share({ host: this.host, kind: 'answered' });
    this.#startOver();
    this.#window.add(nowMs, false);
  }

  #startOver(): void {
    this.#refusals.clear();
    this.#refusedSinceServed = 0;
    this.#pausedUntilMs = 0;
    this.#consecutive = 0;
  }

  #failed(nowMs: number, hasSpare: () => boolean): void {
    if (this.#state === 'probing') this.#eject('failures', nowMs);
    // A host that is used although it is ejected, because there is no other, is not ejected again.
    if (this.#state !== 'well') return;
    this.#consecutive++;
    this.#share({ host: this.host, kind: 'failed' });
    this.#window.add(nowMs, true);
    const cause = this.#causeToEject(nowMs);
    if (cause !== null && hasSpare()) this.#eject(cause, nowMs);
  }

  #causeToEject(nowMs: number): EjectionCause | null {
    const { consecutiveFailures, failurePercent, failureCallsMin } = this.#settings;
    if (this.#consecutive >= consecutiveFailures) return 'failures';
    return this.#window.exceeds(nowMs, failurePercent, failureCallsMin) ? 'failure_rate' : null;
  }

  #eject(cause: EjectionCause, nowMs: number): void {
    const { ejectionMs, ejectionMaxMs } = this.#settings;
    if (nowMs - this.#backSinceMs > ejectionMaxMs && this.#state === 'well') this.#timesOut = 0;
    this.#timesOut++;
    const forMs = Math.min(ejectionMs * this.#timesOut, ejectionMaxMs);
    this.#putOut(forMs, nowMs);
    this.#tell({ kind: 'ejected', host: this.host, cause, forMs, times: this.#timesOut });
  }

  #refuseKey(status: number, nowMs: number): void {
    const forMs = this.#settings.keyAsideMs;
    const isNews = !this.#keyRefused;
    this.#putOut(forMs, nowMs);
    this.#keyRefused = true;
    this.#tell({ kind: 'key_set_aside', host: this.host, status, forMs, isNews });
  }

  #putOut(forMs: number, nowMs: number): void {
    this.#state = 'out';
    this.#epoch++;
    this.#outUntilMs = nowMs + forMs;
    this.#consecutive = 0;
    this.#overruns = 0;
    this.#window.clear();
  }

  #return(nowMs: number): void {
    if (this.#state === 'well') return;
    this.#putBack(nowMs);
    this.#tell({ kind: 'returned', host: this.host });
  }

  #putBack(nowMs: number): void {
    this.#state = 'well';
    this.#keyRefused = false;
    this.#backSinceMs = nowMs;
  }

  /** The host stays in use, and comes last for a while only if it refuses several accounts in a row. */
  #refused(status: number, nowMs: number, accountId: bigint): void {
    this.#refusedSinceServed++;
    const isFirst = this.#refusals.add(accountId);
    const forMs = this.#refusals.isAgainstHost ? this.#refusals.pauseMs(this.#settings.keyAsideMs) : 0;
    if (forMs > 0) this.#pausedUntilMs = nowMs + forMs;
    // A host that refuses a request is alive.
    this.#return(nowMs);
    this.#tell({ kind: 'refused', host: this.host, status, forMs, isNews: isFirst || forMs > 0 });
  }

  #setLimit(retryAfterMs: number | null, nowMs: number): void {
    const { limitedMs, limitedMaxMs } = this.#settings;
    const forMs = Math.min(retryAfterMs ?? limitedMs, limitedMaxMs);
    this.#limitedUntilMs = Math.max(this.#limitedUntilMs, nowMs + forMs);
    // A host that limits our rate is alive.
    this.#return(nowMs);
    this.#tell({ kind: 'limited', host: this.host, forMs });
  }

  #setModelAside(model: string, nowMs: number): void {
    const isNews = !this.#absentModels.has(model);
    const forMs = this.#settings.keyAsideMs;
    if (!this.#noteAbsent(model, forMs, nowMs)) return;
    this.#tell({ kind: 'model_set_aside', host: this.host, model, forMs, isNews });
  }

  /** False if there are too many; models whose pause is over are removed first. */
  #noteAbsent(model: string, forMs: number, nowMs: number): boolean {
    const models = this.#absentModels;
    if (models.size >= LIMITS.hostModelsAsideMax && !models.has(model)) {
      for (const [name, untilMs] of models) if (untilMs <= nowMs) models.delete(name);
      if (models.size >= LIMITS.hostModelsAsideMax) return false;
    }
    models.set(model, nowMs + forMs);
    return true;
  }
}
