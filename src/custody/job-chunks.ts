import type { JobChunkName } from '../store/jobs.ts';
import type { Associated } from './seal.ts';

/** A chunk can be decrypted only in its own place: as this part of this job's request, or of that attempt's answer. */
export function placeOfChunk({ jobId, attempt, digest, part }: JobChunkName): Associated {
  return ['job', String(jobId), String(attempt), digest, String(part)];
}
