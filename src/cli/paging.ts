import { LIMITS } from '../limits.ts';
import type { Options } from './command.ts';
import type { Session } from './session.ts';
import { readCount } from './text-values.ts';

export const PAGE_OPTIONS = [
  ['--limit <count>', 'most rows to list (100)'],
  ['--after <id>', 'list the rows after this one'],
] as const;

export function readPage(options: Options): { limit: number; after: string | null } {
  const { limit, after } = options;
  return {
    limit: typeof limit === 'string' ? readCount(limit, '--limit', LIMITS.storePageRowsMax) : 100,
    after: typeof after === 'string' ? after : null,
  };
}

export function sayMore(session: Session, next: string | null): void {
  if (next !== null) session.advise(`There may be more: add --after ${next}`);
}
