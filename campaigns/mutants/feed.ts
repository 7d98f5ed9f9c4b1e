import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `feed: ${name}`, changes: [{ file, find, replace }], tests };
}

const FEED = 'src/ledger/receipt-feed.ts';
const FEED_TEST = 'src/ledger/receipt-feed.test.ts';
const STREAM = 'src/manage/feed/feed-stream.ts';
const STREAM_TEST = 'src/manage/feed/feed-stream.test.ts';
const PAGE = 'src/accounts/authenticate-page.ts';
const PAGE_TEST = 'test/page-calls.test.ts';
const TABLES = 'src/store/sqlite/cached-tables.ts';
const TABLES_TEST = 'src/store/sqlite/forget-table.test.ts';

/** Faults of the feed of receipts, of calls from a page, and of what SQLite's writer forgets. */
export const FEED_MUTANTS: readonly Mutant[] = [
  mutant('calls that run long are never shown', FEED, '!open.has(id) && !ended.has(id)', 'false', FEED_TEST),
  mutant('calls that run short are never shown', FEED, '!before.ended.has(id)', 'false', FEED_TEST),
  mutant('a call is shown again and again', FEED, '!before.ended.has(id)', 'id > 0n', FEED_TEST),
  mutant('ends since the last reading only by our own clock', FEED, ' - LIMITS.receiptFeedSkewMs;', ';', FEED_TEST),
  mutant('slow bodies are forgotten', FEED, 'idFloorAt(sinceMs - idLeadMs)', 'idFloorAt(sinceMs)', FEED_TEST),
  mutant('a cursor of another process counts', FEED, 'run === channel.run && ', '', FEED_TEST),
  mutant(
    'a reader who does not read is written to',
    STREAM,
    'response.pendingBytes > LIMITS',
    '0 > LIMITS',
    STREAM_TEST,
  ),
  mutant(
    'receipts are sent although no check has ended',
    STREAM,
    'if (isOverdue) this.end();\n    else ',
    '',
    STREAM_TEST,
  ),
  mutant('anybody uses the key of a person', PAGE, 'actor.id === personId && ', '', PAGE_TEST),
  mutant('a foreign page makes calls', PAGE, '  if (refused !== null) return refused;\n', '', PAGE_TEST),
  mutant('a changed cap is not noticed', TABLES, 'cache.forgetKeys(null)', 'void 0', TABLES_TEST),
  mutant('a suspended account is not noticed', TABLES, 'cache.forget();', 'void 0;', TABLES_TEST),
];
