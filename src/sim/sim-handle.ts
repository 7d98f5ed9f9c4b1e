import type { SimCall } from './calls.ts';
import type { SimScript } from './script.ts';
import type { ScriptOptions } from './script-book.ts';

/** A simulated model host on a loopback port, and the strings to pull it by. */
export interface Sim {
  readonly url: string;
  readonly port: number;
  /** The calls since the last reset, in order of arrival. */
  readonly calls: readonly SimCall[];
  /** Counts every call whose body arrived since the last reset, forgotten ones too. */
  received(): number;
  /** Scripts with `times` queue up; one without replaces the standing script; null withdraws. */
  script(script: SimScript | null, options?: ScriptOptions): void;
  release(gate: string, count?: number): void;
  /** Resolves once so many calls were received since the last reset. */
  waitForCalls(count: number): Promise<void>;
  /** Resolves once so many responses wait at the gate. */
  waitForGate(gate: string, count: number): Promise<void>;
  /** Resolves once no response is open. */
  waitForIdle(): Promise<void>;
  openConnections(): number;
  openResponses(): number;
  /** Back to the beginning: scripts, gates, calls and cached prefixes forgotten, open responses cut. */
  reset(): void;
  close(): Promise<void>;
}
