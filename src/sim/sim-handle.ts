import type { SimCall } from './calls.ts';
import type { SimScript } from './script.ts';
import type { ScriptOptions } from './script-queue.ts';

/** A simulated model host on a loopback port, with its controls. */
export interface Sim {
  readonly url: string;
  readonly port: number;
  /** The calls since the last reset, in order of arrival. */
  readonly calls: readonly SimCall[];
  /** Counts every call whose body arrived since the last reset, including forgotten ones. */
  received(): number;
  /** Scripts with `times` queue up; one without replaces the standing script; null removes it. */
  script(script: SimScript | null, options?: ScriptOptions): void;
  release(gate: string, count?: number): void;
  /** Resolves once this many calls have arrived since the last reset. */
  waitForCalls(count: number): Promise<void>;
  /** Resolves once this many responses wait at the gate. */
  waitForGate(gate: string, count: number): Promise<void>;
  /** Resolves once no response is open. */
  waitForIdle(): Promise<void>;
  openConnections(): number;
  openResponses(): number;
  /** Forgets scripts, gates, calls and cached prefixes, and cuts open responses. */
  reset(): void;
  close(): Promise<void>;
}
