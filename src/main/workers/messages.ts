import type { MessagePort } from 'node:worker_threads';
import type { Payers } from '../../alerts/changed-payers.ts';
import type { Config } from '../../config/config.ts';
import type { MasterKeys } from '../../custody/seal.ts';
import type { ConfiguredHost } from '../../hosts/host.ts';
import type { HostNews } from '../../hosts/host-sign.ts';
import type { MetricsPart } from '../../http/metrics.ts';
import type { WriterTicket } from '../books.ts';
import type { Packed } from './pack-secrets.ts';
import type { SharedMemory } from './thread-state.ts';

/** What a reload replaces. */
export interface Settings {
  readonly config: Config;
  /** The configured hosts, each with its address. */
  readonly hosts: readonly ConfiguredHost[];
}

/** What a worker is started with. */
export interface WorkerTerms {
  /** 0 is the first worker, the thread that starts the others. */
  readonly worker: number;
  readonly workers: number;
  readonly memory: SharedMemory;
  /** `Settings`. */
  readonly settings: Packed;
  /** Read once for all workers: a command would run once for each, and could print other keys the second time. */
  readonly masterKeys: MasterKeys;
  /** Null if the ledger is in PostgreSQL, where each worker has a place of its own. */
  readonly ticket: WriterTicket | null;
  /** The account of callers without a key. */
  readonly localAccountId: bigint | null;
  /** When the clock of the first worker began. */
  readonly clockBaseMs: number;
  /** For requests that the first worker answers. */
  readonly forwarding: MessagePort;
}

/** From the first worker. */
export type Order =
  | { readonly kind: 'listen'; readonly host: string; readonly port: number }
  /** All ports of the gateway, to which no caller's URL may lead. */
  | { readonly kind: 'own_ports'; readonly ports: readonly number[] }
  /** Get ready to use these `Settings`; the old ones stay in effect until `finish_reload`. */
  | { readonly kind: 'prepare_reload'; readonly settings: Packed }
  | { readonly kind: 'finish_reload'; readonly keys: MasterKeys }
  /** The master keys have changed. */
  | { readonly kind: 'use_keys'; readonly keys: MasterKeys }
  | { readonly kind: 'news'; readonly news: HostNews }
  /** Continue with ids above this one. */
  | { readonly kind: 'ids_above'; readonly id: bigint }
  | { readonly kind: 'metrics'; readonly number: number }
  /** Finish the calls within the time for it, close everything, and end. */
  | { readonly kind: 'drain' };

/** To the first worker. */
export type Report =
  | { readonly kind: 'composed' | 'listening' | 'reloaded' | 'drained' }
  /** `problem`: why the new settings cannot be used; null if they can. */
  | { readonly kind: 'prepared'; readonly problem: string | null }
  | { readonly kind: 'news'; readonly news: HostNews }
  | { readonly kind: 'metrics'; readonly number: number; readonly part: MetricsPart }
  | { readonly kind: 'log'; readonly lines: readonly string[] }
  /** Who paid for calls since the last report, for alerts. */
  | { readonly kind: 'payers'; readonly payers: Payers };
