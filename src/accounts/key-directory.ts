import type { CacheSize } from '../kit/caches.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { isSecretOf } from '../store/key-secrets.ts';
import { type KeyRow, type Store, StoreUnavailable } from '../store/store.ts';
import { checksumFits, hashSecret, hasKeyShape } from './keys.ts';

type KeyStore = Pick<Store, 'findKey' | 'findKeyByHash' | 'keysChangedSince' | 'noteKeyUses'>;

/** A key in memory. */
interface KnownKey {
  row: KeyRow;
  /** The last use that the store has not been told about yet. */
  usedMs: number | null;
  /** False once changes of this key are no longer tracked, so that its row must not be trusted. */
  isPolled: boolean;
}

/**
 * Keys in memory, found by the hashes of their secrets. Changes are polled, so that every revocation takes effect
 * within two seconds. If the store does not answer for that long, the directory throws instead of trusting its cache.
 */
export class KeyDirectory {
  readonly #store: KeyStore;
  readonly #clock: Clock;
  readonly #keysMax: number;
  /** By the hashes of secrets. A key that was rotated has several, and its row says which still work. */
  readonly #byHash = new Map<string, KnownKey>();
  readonly #byId = new Map<bigint, KnownKey>();
  /** Unknown hashes, each with the time until which that is believed. */
  readonly #misses = new Map<string, number>();
  /** Keys used since the last note; the store is told now and then, not for every call. */
  #used: KnownKey[] = [];
  #notedAtMs: number;
  readonly #lookups = new Map<string, Promise<KeyRow | null>>();
  /** Every change up to this version is known; null before the first poll. */
  #version: bigint | null = null;
  /** Increased when everything is forgotten, so that answers to earlier queries are not cached. */
  #forgotten = 0;
  /** When the last successful poll began. */
  #freshAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> = Promise.resolve();
  #queued: Promise<void> | null = null;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(store: KeyStore, clock: Clock, keysMax: number = LIMITS.cachedKeysMax) {
    this.#store = store;
    this.#clock = clock;
    this.#keysMax = keysMax;
    this.#notedAtMs = clock.monotonicMs();
  }

  async start(): Promise<void> {
    await this.refresh();
    this.#pollLater();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /**
   * The key of this secret, even if it is disabled; null if it is revoked or has expired. Without a promise if it is cached.
   * Throws StoreUnavailable if it cannot know.
   */
  find(secret: string): KeyRow | null | Promise<KeyRow | null> {
    if (this.#isFresh()) return this.#findFresh(secret);
    return hasKeyShape(secret) ? this.#findAfterRefresh(secret) : null;
  }

  /** The key of this id under the same conditions, read from the store each time: few calls name a key by its id. */
  async findById(id: bigint): Promise<KeyRow | null> {
    const row = await this.#store.findKey(id);
    const nowMs = this.#clock.nowMs();
    if (row === null || !isUsable(row, nowMs)) return null;
    this.#noteUse(this.#byId.get(id) ?? { row, usedMs: null, isPolled: false }, nowMs);
    return row;
  }

  /** For a store that was put back to an older state: versions that were seen may be used again for other changes. */
  forget(): void {
    this.#forgotten++;
    this.#byHash.clear();
    this.#byId.clear();
    this.#misses.clear();
    this.#lookups.clear();
    this.#version = null;
    this.#freshAtMs = Number.NEGATIVE_INFINITY;
  }

  sizes(): CacheSize[] {
    return [
      { cache: 'keys', entries: this.#byId.size, entriesMax: this.#keysMax },
      { cache: 'key_hashes', entries: this.#byHash.size, entriesMax: this.#keysMax },
      { cache: 'unknown_keys', entries: this.#misses.size, entriesMax: LIMITS.cachedKeyMissesMax },
      { cache: 'key_lookups', entries: this.#lookups.size, entriesMax: LIMITS.keyLookupsMax },
      { cache: 'key_uses', entries: this.#used.length, entriesMax: LIMITS.storePageRowsMax },
    ];
  }

  /** Learns every change made before this call. Polls that are waiting for their turn are merged. */
  refresh(): Promise<void> {
    if (this.#queued !== null) return this.#queued;
    const queued = this.#running.then(() => {
      this.#queued = null;
      return this.#catchUp();
    });
    this.#queued = queued;
    this.#running = queued.catch(() => {});
    return queued;
  }

  #isFresh(): boolean {
    return this.#clock.monotonicMs() - this.#freshAtMs <= LIMITS.keyStalenessMs;
  }

  #findFresh(secret: string): KeyRow | null | Promise<KeyRow | null> {
    const hash = hashSecret(secret);
    const known = this.#byHash.get(hash);
    if (known?.isPolled === true) return this.#ifActive(known, hash);
    // A cached key had the right shape, so only others are checked.
    if (!hasKeyShape(secret) || this.#isKnownMiss(hash) || !checksumFits(secret)) return null;
    return this.#lookUp(hash);
  }

  /** The poll may only be late, for example after the process was paused, so try once more before refusing. */
  async #findAfterRefresh(secret: string): Promise<KeyRow | null> {
    await this.#withinLimit(this.refresh());
    return this.#findFresh(secret);
  }

  #withinLimit(work: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (cause?: unknown) => reject(new StoreUnavailable('Keys cannot be checked now.', { cause }));
      const timer = this.#clock.after(LIMITS.keyRefreshWaitMs, refuse, { unref: true });
      void work.then(resolve, refuse).finally(() => timer.cancel());
    });
  }

  /** Times are compared for every request: the end of a key or a secret is not a change that would be polled. */
  #ifActive(known: KnownKey, hash: string): KeyRow | null {
    const { row } = known;
    const nowMs = this.#clock.nowMs();
    if (!isUsable(row, nowMs) || !isSecretOf(row, hash, nowMs)) return null;
    this.#noteUse(known, nowMs);
    return row;
  }

  #noteUse(known: KnownKey, nowMs: number): void {
    if (known.usedMs !== null) known.usedMs = nowMs;
    else if (this.#used.length < LIMITS.storePageRowsMax) {
      known.usedMs = nowMs;
      this.#used.push(known);
    }
  }

  #isKnownMiss(hash: string): boolean {
    const untilMs = this.#misses.get(hash);
    return untilMs !== undefined && untilMs > this.#clock.monotonicMs();
  }

  async #lookUp(hash: string): Promise<KeyRow | null> {
    const row = await (this.#lookups.get(hash) ?? this.#beginLookup(hash));
    if (row === null) return null;
    const known = this.#byHash.get(hash);
    return this.#ifActive(known?.row === row ? known : { row, usedMs: null, isPolled: false }, hash);
  }

  #beginLookup(hash: string): Promise<KeyRow | null> {
    if (this.#lookups.size >= LIMITS.keyLookupsMax) throw new StoreUnavailable('Too many keys are being looked up.');
    const lookup = this.#readStore(hash).finally(() => {
      if (this.#lookups.get(hash) === lookup) this.#lookups.delete(hash);
    });
    this.#lookups.set(hash, lookup);
    return lookup;
  }

  async #readStore(hash: string): Promise<KeyRow | null> {
    const [versionBefore, forgottenBefore] = [this.#version, this.#forgotten];
    const row = await this.#store.findKeyByHash(hash).catch((cause: unknown) => {
      throw new StoreUnavailable('The key cannot be looked up now.', { cause });
    });
    // A poll that ended meanwhile may have seen a newer state of this row, and will not report it again.
    const isCurrent = this.#version === versionBefore && this.#forgotten === forgottenBefore;
    if (isCurrent) this.#remember(hash, row);
    return row;
  }

  #remember(hash: string, row: KeyRow | null): void {
    if (row === null) {
      setBounded(this.#misses, hash, this.#clock.monotonicMs() + LIMITS.keyMissMs, LIMITS.cachedKeyMissesMax);
      return;
    }
    const known = this.#byId.get(row.id) ?? { row, usedMs: null, isPolled: true };
    known.row = row;
    setBounded(this.#byHash, hash, known, this.#keysMax);
    const evicted = setBounded(this.#byId, row.id, known, this.#keysMax);
    if (evicted !== undefined) evicted.isPolled = false;
  }

  async #catchUp(): Promise<void> {
    const beganMs = this.#clock.monotonicMs();
    for (let round = 0; round < LIMITS.keyPollRoundsMax; round++) {
      const forgottenBefore = this.#forgotten;
      const { version, keys } = await this.#store.keysChangedSince(this.#version);
      if (forgottenBefore !== this.#forgotten) continue;
      this.#version = version;
      for (const key of keys) this.#learn(key);
      if (keys.length >= LIMITS.storePageRowsMax) continue;
      this.#freshAtMs = beganMs;
      return;
    }
    throw new StoreUnavailable('Keys change faster than they can be read.');
  }

  #learn(key: KeyRow): void {
    const known = this.#byId.get(key.id);
    if (known !== undefined) known.row = key;
    this.#misses.delete(key.sha256Hex);
  }

  /** Only roughly, because a write for every call would cost too much. What cannot be written now is written later. */
  async #noteUses(): Promise<void> {
    if (this.#used.length === 0 || this.#clock.monotonicMs() - this.#notedAtMs < LIMITS.keyUseMs) return;
    this.#notedAtMs = this.#clock.monotonicMs();
    const used = this.#used;
    this.#used = [];
    const uses = new Map<bigint, number>();
    for (const known of used) {
      uses.set(known.row.id, known.usedMs!);
      known.usedMs = null;
    }
    await this.#store.noteKeyUses(uses).catch(() => {
      for (const known of used) {
        if (known.usedMs === null) this.#used.push(known);
        known.usedMs ??= uses.get(known.row.id)!;
      }
    });
  }

  #pollLater(): void {
    if (this.#stopped) return;
    const again = () => this.#pollLater();
    this.#timer = this.#clock.after(
      LIMITS.keyPollMs,
      () =>
        void this.refresh()
          .then(() => this.#noteUses())
          .then(again, again),
      { unref: true },
    );
  }
}

function isUsable({ revokedMs, expiresMs }: KeyRow, nowMs: number): boolean {
  return revokedMs === null && (expiresMs === null || expiresMs > nowMs);
}

/** Removes the oldest entry if the map is full, and returns it. */
function setBounded<Name, Value>(map: Map<Name, Value>, name: Name, value: Value, sizeMax: number): Value | undefined {
  let evicted: Value | undefined;
  if (map.size >= sizeMax && !map.has(name)) {
    const [oldest] = map.entries();
    evicted = oldest![1];
    map.delete(oldest![0]);
  }
  map.set(name, value);
  return evicted;
}
