import { createHash } from 'node:crypto';
import { placeOfChunk } from '../custody/job-chunks.ts';
import type { Sealer } from '../custody/seal.ts';
import type { WholeAnswer } from '../gateway/client-sink.ts';
import { tryParseJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import type { Job, JobChunk, JobContent, JobStore } from '../store/jobs.ts';

/** Content that is sealed in chunks, and its name in the job's row. */
export interface SealedContent {
  readonly content: JobContent;
  readonly chunks: readonly JobChunk[];
}

/** The attempt of a request's chunks. */
const REQUEST = 0;

/** Requests and responses of jobs, as they are stored. */
export class JobContents {
  readonly #sealer: Sealer;
  readonly #store: Pick<JobStore, 'readChunk'>;

  constructor(sealer: Sealer, store: Pick<JobStore, 'readChunk'>) {
    this.#sealer = sealer;
    this.#store = store;
  }

  sealRequest(jobId: bigint, body: Buffer): SealedContent {
    return this.#seal(jobId, REQUEST, body);
  }

  sealAnswer(jobId: bigint, attempt: number, answer: WholeAnswer): SealedContent {
    return this.#seal(jobId, attempt, writeAnswer(answer));
  }

  /** Null if it was deleted or cannot be decrypted. */
  readRequest({ id, request }: Pick<Job, 'id' | 'request'>): Promise<Buffer | null> {
    return this.#open(id, REQUEST, request);
  }

  /** Null if there is none, it was deleted, or it cannot be decrypted. */
  async readAnswer({ id, attempts, result }: Pick<Job, 'id' | 'attempts' | 'result'>): Promise<WholeAnswer | null> {
    const bytes = result === null ? null : await this.#open(id, attempts, result);
    return bytes === null ? null : readAnswer(bytes);
  }

  #seal(jobId: bigint, attempt: number, plain: Buffer): SealedContent {
    // With the id, so that equal requests of different jobs cannot be recognised.
    const digest = createHash('sha256').update(`${jobId}\n`).update(plain).digest('hex');
    const chunks: JobChunk[] = [];
    let bytes = 0;
    for (let at = 0, part = 0; at < plain.length || part === 0; at += LIMITS.jobChunkBytesMax, part++) {
      const name = { jobId, attempt, digest, part };
      const sealed = this.#sealer.seal(plain.subarray(at, at + LIMITS.jobChunkBytesMax), placeOfChunk(name));
      bytes += sealed.length;
      chunks.push({ ...name, sealed });
    }
    return { content: { digest, chunks: chunks.length, bytes }, chunks };
  }

  async #open(jobId: bigint, attempt: number, { digest, chunks }: JobContent): Promise<Buffer | null> {
    const pieces: Uint8Array[] = [];
    for (let part = 0; part < chunks; part++) {
      const name = { jobId, attempt, digest, part };
      const sealed = await this.#store.readChunk(name);
      const plain = sealed === null ? null : this.#sealer.open(sealed, placeOfChunk(name));
      if (plain === null) return null;
      pieces.push(plain);
    }
    return Buffer.concat(pieces);
  }
}

interface AnswerHead {
  readonly status: number;
  readonly lines: string;
}

/** The head as one line of JSON, then the body. */
function writeAnswer({ status, lines, body }: WholeAnswer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ status, lines } satisfies AnswerHead)}\n`), body]);
}

function readAnswer(bytes: Buffer): WholeAnswer {
  const headEnd = bytes.indexOf(0x0a);
  const head = tryParseJson(bytes.subarray(0, headEnd).toString()) as AnswerHead;
  return { ...head, body: bytes.subarray(headEnd + 1) };
}
