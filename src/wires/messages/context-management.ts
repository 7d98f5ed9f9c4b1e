import { isAbsent, isObject } from '../fields/members.ts';

const KEEPING_MEMBERS: ReadonlySet<string> = new Set(['type', 'keep']);

/** Whether nothing is removed from the prompt: all edits keep all thinking, which hosts would otherwise remove from earlier turns. */
export function keepsPrompt(value: unknown): boolean {
  return editsOf(value)?.every(keepsThinking) === true;
}

/** Hosts know the field only with a beta, so one that names no edits is not sent. */
export function namesNoEdits(value: unknown): boolean {
  return editsOf(value)?.length === 0;
}

function editsOf(value: unknown): readonly unknown[] | null {
  if (!isObject(value) || Object.keys(value).some((name) => name !== 'edits')) return null;
  if (isAbsent(value.edits)) return [];
  return Array.isArray(value.edits) ? value.edits : null;
}

function keepsThinking(edit: unknown): boolean {
  if (!isObject(edit) || Object.keys(edit).some((name) => !KEEPING_MEMBERS.has(name))) return false;
  const { type, keep } = edit;
  if (typeof type !== 'string' || !type.startsWith('clear_thinking_')) return false;
  return keep === 'all' || (isObject(keep) && keep.type === 'all');
}
