import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { SignInError } from './error.ts';

interface Attempt {
  /** It did not fail, so it does not count. */
  forgive(): void;
}

/**
 * Counts failed sign-ins by email address and by client, each within a sliding window. An attempt counts as soon as it
 * begins, so that no more of them run in parallel than may fail. Each process counts for itself.
 */
export class SignInAttempts {
  readonly #clock: Clock;
  readonly #onLimited: () => void;
  readonly #times = new Map<string, number[]>();

  constructor(clock: Clock, onLimited: () => void = () => {}) {
    this.#clock = clock;
    this.#onLimited = onLimited;
  }

  /** Addresses and clients whose failures are counted. */
  get size(): number {
    return this.#times.size;
  }

  /** With a password. Throws if the address or the client has failed too often. */
  begin(email: string, client: string): Attempt {
    return this.#begin([`email ${email.toLowerCase()}`, `client ${client}`]);
  }

  /** With single sign-on, which is counted apart: anybody can send a made-up answer of the provider. */
  beginSso(client: string): Attempt {
    return this.#begin([`sso ${client}`]);
  }

  #begin(subjects: readonly string[]): Attempt {
    const nowMs = this.#clock.monotonicMs();
    const recent = subjects.map((subject) => this.#recent(subject, nowMs));
    const full = recent.filter((times) => times.length >= LIMITS.signInFailuresMax);
    if (full.length > 0) {
      this.#onLimited();
      const retryMs = Math.max(...full.map((times) => times[0]! + LIMITS.signInWindowMs - nowMs));
      throw new SignInError('rate_limit_exceeded', 'Too many sign-ins failed. Wait a minute and try again.', retryMs);
    }
    for (const [at, subject] of subjects.entries()) this.#keep(subject, [...recent[at]!, nowMs]);
    return { forgive: () => this.#forgive(subjects, nowMs) };
  }

  #recent(subject: string, nowMs: number): readonly number[] {
    return (this.#times.get(subject) ?? []).filter((ms) => nowMs - ms < LIMITS.signInWindowMs);
  }

  /** The latest failure is the last entry, so the first entry is the oldest. */
  #keep(subject: string, times: number[]): void {
    this.#times.delete(subject);
    if (times.length === 0) return;
    if (this.#times.size >= LIMITS.signInCountersMax) this.#times.delete(this.#times.keys().next().value!);
    this.#times.set(subject, times);
  }

  #forgive(subjects: readonly string[], beganMs: number): void {
    for (const subject of subjects) {
      const times = [...(this.#times.get(subject) ?? [])];
      const at = times.indexOf(beganMs);
      if (at !== -1) times.splice(at, 1);
      this.#keep(subject, times);
    }
  }
}
