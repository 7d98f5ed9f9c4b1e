import { createHash } from 'node:crypto';
import { placeOfChunk } from '../custody/job-chunks.ts';
import type { Sealer } from '../custody/seal.ts';
import type { WholeResponse } from '../gateway/client-sink.ts';
import { tryParseJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import type { Job, JobChunk, JobChunkName, JobContent, JobStore } from '../store/jobs.ts';
import { nextTurn } from './turns.ts';

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
  readonly #store: Pick<JobStore, 'readChunk' | 'putChunks'>;

  constructor(sealer: Sealer, store: Pick<JobStore, 'readChunk' | 'putChunks'>) {
    this.#sealer = sealer;
    this.#store = store;
  }

  sealRequest(jobId: bigint, body: Buffer): SealedContent {
    // With the id, so that equal requests of different jobs cannot be recognised.
    const digest = createHash('sha256').update(`${jobId}\n`).update(body).digest('hex');
    const chunks = [...this.#seal({ jobId, attempt: REQUEST, digest }, body)];
    const bytes = chunks.reduce((sum, { sealed }) => sum + sealed.length, 0);
    return { content: { digest, chunks: chunks.length, bytes }, chunks };
  }

  /** Writes one chunk per commit: a large answer must not hold up the commits of calls. */
  async storeAnswer(jobId: bigint, attempt: number, answer: WholeResponse): Promise<JobContent> {
    const plain = writeAnswer(answer);
    const digest = createHash('sha256').update(`${jobId}\n`).update(plain).digest('hex');
    let [chunks, bytes] = [0, 0];
    for (const chunk of this.#seal({ jobId, attempt, digest }, plain)) {
      await this.#store.putChunks([chunk]);
      chunks++;
      bytes += chunk.sealed.length;
    }
    return { digest, chunks, bytes };
  }

  /** Null if it was deleted or cannot be decrypted. */
  readRequest({ id, request }: Pick<Job, 'id' | 'request'>): Promise<Buffer | null> {
    return this.#open(id, REQUEST, request);
  }

  /** Null if there is none, it was deleted, or it cannot be decrypted. */
  async readAnswer({ id, attempts, result }: Pick<Job, 'id' | 'attempts' | 'result'>): Promise<WholeResponse | null> {
    const bytes = result === null ? null : await this.#open(id, attempts, result);
    return bytes === null ? null : readAnswer(bytes);
  }

  /** Each chunk is sealed only when the consumer asks for it. Empty content is one chunk. */
  *#seal(of: Omit<JobChunkName, 'part'>, plain: Buffer): Generator<JobChunk> {
    for (let at = 0, part = 0; at < plain.length || part === 0; at += LIMITS.jobChunkBytesMax, part++) {
      const name = { ...of, part };
      const sealed = this.#sealer.seal(plain.subarray(at, at + LIMITS.jobChunkBytesMax), placeOfChunk(name));
      yield { ...name, sealed };
    }
  }

  async #open(jobId: bigint, attempt: number, { digest, chunks }: JobContent): Promise<Buffer | null> {
    const pieces: Uint8Array[] = [];
    for (let part = 0; part < chunks; part++) {
      const name = { jobId, attempt, digest, part };
      const sealed = await this.#store.readChunk(name);
      const plain = sealed === null ? null : this.#sealer.open(sealed, placeOfChunk(name));
      if (plain === null) return null;
      pieces.push(plain);
      if (part > 0) await nextTurn();
    }
    return Buffer.concat(pieces);
  }
}

interface ResponseHead {
  readonly status: number;
  readonly lines: string;
}

/** The head as one line of JSON, then the body. */
function writeAnswer({ status, lines, body }: WholeResponse): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ status, lines } satisfies ResponseHead)}\n`), body]);
}

function readAnswer(bytes: Buffer): WholeResponse {
  const headEnd = bytes.indexOf(0x0a);
  const head = tryParseJson(bytes.subarray(0, headEnd).toString()) as ResponseHead;
  return { ...head, body: bytes.subarray(headEnd + 1) };
}
