import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** deploy/Containerfile, read as far as tests need it. */

const TEXT = readFileSync(join(resolve(import.meta.dirname, '..'), 'deploy/Containerfile'), 'utf8');

/** The text of each stage, from its base image on. */
export const STAGES = TEXT.split(/^FROM /m).slice(1);
export const LAST_STAGE = STAGES.at(-1)!;

/** What the image sets by itself. */
export const IMAGE_ENV = Object.fromEntries(
  [...LAST_STAGE.matchAll(/^(?:ENV| {4})\s*([A-Z_]+)=(\S+)/gm)].map(([, name, value]) => [name!, value!]),
);

/** The list after an instruction of the last stage, like the words of ENTRYPOINT. */
export const wordsAfter = (instruction: string): string[] =>
  JSON.parse(new RegExp(`${instruction} (\\[.*\\])$`, 'm').exec(LAST_STAGE)![1]!);
