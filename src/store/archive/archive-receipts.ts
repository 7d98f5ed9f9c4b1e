import { makeFolder } from '../../kit/make-folder.ts';
import { describePrivateTmp } from '../../kit/private-tmp.ts';
import { MONTH_PART } from '../month-tree.ts';
import type { ArchiveMonth, ArchiveSlice } from '../programs/archive-reader.ts';
import {
  ArchiveBusy,
  type ArchiveFile,
  ArchiveRefused,
  type ArchiveReport,
  type ArchiveStep,
  type ArchiveTerms,
} from '../receipt-archive.ts';
import type { ArchiveEngine } from './archive-engine.ts';
import { filesIn } from './check-archive.ts';
import type { FileToCheck, MonthFindings } from './check-file.ts';
import { checkMonths } from './check-months.ts';
import { type ArchiveDraft, ArchiveWriter, publish } from './write-file.ts';

/**
 * Writes closed receipts to files, month by month from the oldest on, and deletes them. A file is noted in the ledger
 * after it was read back and is on disk, and receipts are deleted only after that. So a run that was killed loses nothing:
 * if the file was not noted, the next run writes it again; if it was, the next run deletes the receipts that are left.
 */
export async function archiveReceipts(engine: ArchiveEngine, terms: ArchiveTerms): Promise<ArchiveReport> {
  const fleeting = describePrivateTmp(terms.folder);
  if (fleeting !== null) throw new ArchiveRefused(fleeting);
  const report = await engine.alone(() => new ArchiveRun(engine, terms).run());
  if (report === null) throw new ArchiveBusy('Receipts are being archived already. Wait until that has ended.');
  return report;
}

class ArchiveRun {
  readonly #engine: ArchiveEngine;
  readonly #terms: ArchiveTerms;
  readonly #files: ArchiveFile[] = [];
  #forgotten = 0;
  /** Each receipt counts when it is written, and again when it is deleted. */
  #done = 0;
  #total = 0;

  constructor(engine: ArchiveEngine, terms: ArchiveTerms) {
    this.#engine = engine;
    this.#terms = terms;
  }

  async run(): Promise<ArchiveReport> {
    const { folder, beforeMs } = this.#terms;
    await this.#finishEarlier();
    this.#total = this.#done + 2 * (await this.#engine.countBefore(beforeMs));
    for (;;) {
      const month = await this.#oldestMonth();
      const draft = month === null ? null : await writing(folder, () => this.#write(month));
      if (draft === null) return { files: this.#files, forgotten: this.#forgotten };
      await this.#reached('written');
      await this.#prove(draft, month!);
      await this.#reached('proved');
      await writing(folder, () => publish(folder, draft, () => this.#reached('data named')));
      await this.#reached('published');
      await this.#engine.directory.noteArchiveFile(draft.file, this.#terms.audit(draft.file));
      this.#files.push(draft.file);
      await this.#reached('noted');
      await this.#forget(draft.file);
    }
  }

  /** Receipts that are deleted before they are in the usage sums would be missing there for ever. */
  async #oldestMonth(): Promise<ArchiveMonth | null> {
    const month = await this.#engine.oldestMonth();
    if (month === null || month.isSummed) return month;
    throw new ArchiveRefused(
      'Receipts that an earlier version closed are not in the usage sums yet. Start the server, which adds them within minutes, and repeat.',
    );
  }

  /** A run that was killed may have left receipts of its last file. */
  async #finishEarlier(): Promise<void> {
    const last = (await this.#engine.directory.listArchiveFiles()).at(-1);
    const month = await this.#oldestMonth();
    if (last === undefined || month === null || month.after >= last.upTo) return;
    const { problems } = await this.#check(filesIn(this.#terms.folder, [last]));
    if (problems.length > 0)
      throw new ArchiveRefused(
        `An earlier run did not delete all receipts of its last file, and that file cannot be used: ${problems[0]} Name the folder that has it.`,
      );
    await this.#forget(last);
  }

  /** Null if no receipt of the month is old enough. */
  async #write({ monthMs, upTo, after }: ArchiveMonth): Promise<ArchiveDraft | null> {
    const { folder, beforeMs, clock } = this.#terms;
    const first = await this.#engine.slice(after, upTo, beforeMs, clock.nowMs());
    if (first === null) return null;
    makeFolder(folder);
    const files = await this.#engine.directory.listArchiveFiles();
    const number = files.filter((file) => file.monthMs === monthMs).length + 1;
    const writer = await ArchiveWriter.create(folder, monthMs, number, first.firstId);
    try {
      await writer.addStarts(await this.#engine.starts(monthMs));
      let next: ArchiveSlice | null = first;
      while (next !== null) {
        // One slice is compressed while the next one is read.
        const [, following]: readonly [unknown, ArchiveSlice | null] = await Promise.all([
          writer.add(next),
          this.#engine.slice(next.upTo, upTo, beforeMs, clock.nowMs()),
        ]);
        this.#progress(next.receipts);
        await this.#reached('block');
        next = following;
      }
      return await writer.finish(clock.nowMs());
    } catch (error) {
      await writer.discard().catch(() => undefined);
      throw error;
    }
  }

  /** A whole month must have the trees that it was closed with. */
  async #prove({ file, data, manifest }: ArchiveDraft, { upTo }: ArchiveMonth): Promise<void> {
    const { name, monthMs, manifestSha256 } = file;
    const { problems, digest } = await this.#check([{ name, data, manifest, manifestSha256 }]);
    if (problems.length > 0) throw new ArchiveRefused(`The file was damaged while it was written. ${problems[0]}`);
    if (file.upTo !== upTo || digest === (await this.#engine.digest(monthMs, MONTH_PART.closed))) return;
    // Receipts that were closed meanwhile are in the trees of the month, and not in the file.
    if ((await this.#engine.oldestMonth())?.upTo !== upTo) return;
    throw new ArchiveRefused(
      `The receipts for ${name} are not those that were closed. Nothing was deleted. Run "tollgate ledger verify".`,
    );
  }

  async #check(files: readonly FileToCheck[]): Promise<MonthFindings> {
    const [found] = await checkMonths([files], this.#engine.inThread);
    return found!;
  }

  async #forget({ upTo }: ArchiveFile): Promise<void> {
    this.#forgotten += await this.#engine.forgetUpTo(upTo, async (receipts) => {
      this.#progress(receipts);
      await this.#reached('slice');
    });
    await this.#reached('forgotten');
  }

  #progress(receipts: number): void {
    this.#done += receipts;
    this.#terms.progress?.({ rowsRead: this.#done, rowsTotal: Math.max(this.#done, this.#total) });
  }

  async #reached(step: ArchiveStep): Promise<void> {
    await this.#terms.reached?.(step);
  }
}

/** A full disk, or a folder that cannot be written to, is for the operator to repair. */
async function writing<Result>(folder: string, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    if (code === 'ENOSPC')
      throw new ArchiveRefused(
        `There is no space left in ${folder} (${code}). Files that are complete stay; free some space or choose another folder, and repeat.`,
      );
    throw new ArchiveRefused(
      `Cannot write to ${folder} (${code}). If a server is running, it writes the archive: choose a folder that it can write to.`,
    );
  }
}
