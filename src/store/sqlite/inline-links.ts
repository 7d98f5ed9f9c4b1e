import type { StoreUnavailable } from '../store.ts';
import { InlineLink, type Link } from './link.ts';
import { openScanner, type ScannerVerbs } from './scanner-verbs.ts';
import type { WriterMemory } from './writer-memory.ts';
import { openWriter, type WriterVerbs } from './writer-verbs.ts';

/** Does the work of the writer and of the scanner in this thread. */
export function openInline(
  folder: string,
  memory: WriterMemory,
  onBroken: (error: StoreUnavailable) => void,
): { writer: Link<WriterVerbs>; openScanner: () => Link<ScannerVerbs> } {
  return {
    writer: new InlineLink(openWriter(folder, memory), onBroken),
    openScanner: () => new InlineLink(openScanner(folder), onBroken),
  };
}
