import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '../../kit/clock.ts';
import type { StoreUnavailable } from '../store.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import { SharedThread, Thread } from './thread.ts';
import { WriterMemory } from './writer-memory.ts';
import type { WriterVerbs } from './writer-verbs.ts';

export interface SqliteStoreOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** False does all work in this thread, which is faster for a command that does one thing and exits. */
  readonly threads?: boolean;
  /** Where archived receipts are looked for; null: nowhere. */
  readonly archiveFolder?: string | null;
  /**
   * The disk or a thread failed. Commits so far are safe, but no more are possible; the process should exit. After a
   * `StoreVanished` it should stay, because a restart would create an empty ledger.
   */
  readonly onFatal?: (error: Error) => void;
  /** Something that an operator should know, in one sentence. */
  readonly onNotice?: (notice: string) => void;
  /** For another thread of a process that has the store open: from `connectWriter`. */
  readonly writerPort?: WriterPort;
}

/** A port of the writer, and the memory that it shares with all who call it. */
export interface WriterPort {
  readonly port: MessagePort;
  readonly memory: SharedArrayBuffer;
}

/** What the writer's thread is started with. */
export interface WriterTerms {
  readonly folder: string;
  readonly memory: SharedArrayBuffer;
}

/** Where writes and long reads are done. */
export interface StoreLinks {
  readonly writer: Link<WriterVerbs>;
  readonly memory: WriterMemory;
  readonly openScanner: () => Link<ScannerVerbs>;
  /** A thread for long reads, even where the others are done in this one. */
  readonly openThread: () => Link<ScannerVerbs>;
  connectWriter(): WriterPort;
}

export async function openLinks(options: SqliteStoreOptions): Promise<StoreLinks> {
  const { folder, onFatal, threads = true, writerPort } = options;
  const onBroken = (error: StoreUnavailable) => onFatal?.(error);
  const openThread = () => new Thread<ScannerVerbs>('scanner', folder, onBroken);
  const memory = new WriterMemory(writerPort?.memory);
  const { bell, buffer } = memory;
  if (writerPort !== undefined) {
    const writer = new SharedThread<WriterVerbs>('writer', writerPort.port, onBroken, bell);
    return { writer, memory, openScanner: openThread, openThread, connectWriter: refuseToConnect };
  }
  if (threads) {
    const writer = new Thread<WriterVerbs>('writer', { folder, memory: buffer } satisfies WriterTerms, onBroken, bell);
    const connectWriter = () => ({ port: writer.connect(), memory: buffer });
    return { writer, memory, openScanner: openThread, openThread, connectWriter };
  }
  // Loaded on demand: what threads run needs no memory here.
  const { openInline } = await import('./inline-links.ts');
  return { ...openInline(folder, memory, onBroken), memory, openThread, connectWriter: refuseToConnect };
}

function refuseToConnect(): never {
  throw new Error('Only the thread that started the writer can connect others to it.');
}
