import type { TreeSize } from './files.ts';

/** What an installation may take. */
const SIZE_LIMITS = { packages: 70, diskBytes: 60_000_000 };

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

export function describeSize({ packages, files, fileBytes, diskBytes }: TreeSize): string {
  const limits = `at most ${SIZE_LIMITS.packages} packages and ${megabytes(SIZE_LIMITS.diskBytes)} on disk are allowed`;
  return `${packages} packages, ${files} files, ${megabytes(fileBytes)}, ${megabytes(diskBytes)} on disk (${limits})`;
}

export function isSmallEnough({ packages, diskBytes }: TreeSize): boolean {
  return packages <= SIZE_LIMITS.packages && diskBytes <= SIZE_LIMITS.diskBytes;
}
