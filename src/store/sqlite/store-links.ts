import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '../../kit/clock.ts';
import type { StoreUnavailable } from '../store.ts';
import { InlineLink, type Link } from './link.ts';
import { openScanner, type ScannerVerbs } from './scanner-verbs.ts';
import { SharedThread, Thread } from './thread.ts';
import { openWriter, type WriterVerbs } from './writer-verbs.ts';

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
  /** For another thread of a process that has the store open: a port of its writer, from `connectWriter`. */
  readonly writerPort?: MessagePort;
}

/** Where writes and long reads are done. */
export interface StoreLinks {
  readonly writer: Link<WriterVerbs>;
  openScanner(): Link<ScannerVerbs>;
  /** A thread for long reads, also where the others are done in this one. */
  readonly openThread: () => Link<ScannerVerbs>;
  connectWriter(): MessagePort;
}

export function openLinks({ folder, onFatal, threads = true, writerPort }: SqliteStoreOptions): StoreLinks {
  const onBroken = (error: StoreUnavailable) => onFatal?.(error);
  const openThread = () => new Thread<ScannerVerbs>('scanner', folder, onBroken);
  if (writerPort !== undefined) {
    const writer = new SharedThread<WriterVerbs>('writer', writerPort, onBroken);
    return { writer, openScanner: openThread, openThread, connectWriter: refuseToConnect };
  }
  if (threads) {
    const writer = new Thread<WriterVerbs>('writer', folder, onBroken);
    return { writer, openScanner: openThread, openThread, connectWriter: () => writer.connect() };
  }
  return {
    writer: new InlineLink(openWriter(folder), onBroken),
    openScanner: () => new InlineLink(openScanner(folder), onBroken),
    openThread,
    connectWriter: refuseToConnect,
  };
}

function refuseToConnect(): never {
  throw new Error('Only the thread that started the writer can connect others to it.');
}
