import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scratch } from './agent.ts';

/** The task of every agent with tools for files: read a file, edit it, and run a command. */
export const PROMPT = 'Fix the typo in notes.txt and count its words.';
export const TYPO = 'hello wrold';
export const FIXED = 'hello world';
export const COUNT_WORDS = 'wc -w < notes.txt > count.txt';
export const REPORT = 'The typo is fixed, and there are two words.';

/** A patch in the format that several agents share. */
export function patchOf(file: string): string {
  return `*** Begin Patch\n*** Update File: ${file}\n@@\n-${TYPO}\n+${FIXED}\n*** End Patch`;
}

export function notesOf({ work }: Scratch): string {
  return join(work, 'notes.txt');
}

export function findTypoFault(scratch: Scratch, output: string): string | null {
  if (read(notesOf(scratch)) !== FIXED) return 'notes.txt was not edited';
  if (read(join(scratch.work, 'count.txt')) !== '2') return 'the command was not run';
  return output.includes(REPORT) ? null : "the model's final text was not shown";
}

function read(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}
