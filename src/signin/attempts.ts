import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { SignInError } from './error.ts';

interface Attempt {
  /** It did not fail, so it does not count. */
  forgive(): void;
}

interface PasswordAttempt extends Attempt {
  /** As `forgive`, and the client is known to the address from now on. */
  succeed(): void;
}

interface Counter {
  readonly subject: string;
  readonly failuresMax: number;
}

/**
 * Counts failed sign-ins by email address and by client, each within a sliding window. An attempt counts as soon as it
 * begins, so that no more of them run in parallel than may fail. Each process counts for itself.
 */
export class SignInAttempts {
  readonly #clock: Clock;
  readonly #onLimited: () => void;
  readonly #times = new Map<string, number[]>();
  readonly #known = new Set<string>();

  constructor(clock: Clock, onLimited: () => void = () => {}) {
    this.#clock = clock;
    this.#onLimited = onLimited;
  }

  /** Addresses and clients whose failures are counted. */
  get size(): number {
    return this.#times.size;
  }

  /**
   * With a password. Throws if the client has failed too often, or the address, whoever tried it. The latter does not apply to
   * clients that have signed in with the address before: otherwise anybody could keep somebody from signing in.
   */
  begin(email: string, client: string): PasswordAttempt {
    const address = `email ${email.toLowerCase()}`;
    const pair = `${client} ${address}`;
    const ofClient = { subject: `client ${client}`, failuresMax: LIMITS.signInFailuresMax };
    const ofAddress = { subject: address, failuresMax: LIMITS.signInAddressFailuresMax };
    const attempt = this.#begin(this.#known.has(pair) ? [ofClient] : [ofClient, ofAddress]);
    const succeed = (): void => {
      attempt.forgive();
      this.#remember(pair);
    };
    return { ...attempt, succeed };
  }

  /** With single sign-on, which is counted apart: anybody can send a made-up answer of the provider. */
  beginSso(client: string): Attempt {
    return this.#begin([{ subject: `sso ${client}`, failuresMax: LIMITS.signInFailuresMax }]);
  }

  #begin(counters: readonly Counter[]): Attempt {
    const nowMs = this.#clock.monotonicMs();
    const recent = counters.map(({ subject }) => this.#recent(subject, nowMs));
    const full = recent.filter((times, at) => times.length >= counters[at]!.failuresMax);
    if (full.length > 0) {
      this.#onLimited();
      const retryMs = Math.max(...full.map((times) => times[0]! + LIMITS.signInWindowMs - nowMs));
      throw new SignInError('rate_limit_exceeded', 'Too many sign-ins failed. Wait a minute and try again.', retryMs);
    }
    for (const [at, { subject }] of counters.entries()) this.#keep(subject, [...recent[at]!, nowMs]);
    return {
      forgive: () => {
        for (const { subject } of counters) this.#forgive(subject, nowMs);
      },
    };
  }

  /** The latest is the last entry. */
  #remember(pair: string): void {
    this.#known.delete(pair);
    if (this.#known.size >= LIMITS.signInKnownClientsMax) this.#known.delete(this.#known.values().next().value!);
    this.#known.add(pair);
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

  #forgive(subject: string, beganMs: number): void {
    const times = [...(this.#times.get(subject) ?? [])];
    const at = times.indexOf(beganMs);
    if (at !== -1) times.splice(at, 1);
    this.#keep(subject, times);
  }
}
