import { describe, expect, test } from 'vitest';
import { systemClock } from '../kit/clock.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import { StoreMisnamed } from '../operator/choices.ts';
import type { CopiedView, CopyView } from '../operator/store.ts';
import type { Composition, CopyTerms, Refused } from './composition.ts';
import { EXIT } from './exit-codes.ts';
import { asFailure } from './failure.ts';
import { runCli } from './run.ts';

const COPY: CopyView = {
  object: 'store_copy',
  ok: true,
  start: 'begun',
  rows_found: 0,
  rows_copied: 40,
  accounts: 2,
  keys: 3,
  receipts: 20,
  credits: 2,
  balance_nanousd: 5_000_000_001n,
  spent_nanousd: 0n,
  credited_nanousd: 5_000_000_001n,
  tables: { call: 20 },
  faults: [],
};
const URL_WITH_PASSWORD = 'postgres://ada:hunter2@db.example/books';

/** A command line whose ledger is copied as the test says. */
async function run(
  args: readonly string[],
  options: { answer?: CopyView | CopiedView | Refused | Error; isLive?: boolean; columns?: number; env?: object } = {},
) {
  const [out, err, copies] = [[] as string[], [] as string[], [] as CopyTerms[]];
  const composition = {
    copyStore: async (terms: CopyTerms) => {
      copies.push(terms);
      for (let done = 0; done <= 40; done += 4) terms.progress({ phase: 'copying', done, total: 40 });
      if (options.answer instanceof Error) throw options.answer;
      return options.answer ?? COPY;
    },
    terminal: {
      writeOut: (text: string) => void out.push(text),
      writeErr: (text: string) => void err.push(text),
      isLive: options.isLive ?? false,
      columns: () => options.columns,
    },
    cwd: '/home/ada',
    clock: systemClock,
  } as unknown as Composition;
  const env = { HOME: '/home/ada', ...options.env };
  const code = await runCli(['store', 'copy', ...args], env, composition);
  return { code, out: out.join(''), err: err.join(''), copies };
}

describe('tollgate store copy', () => {
  test('prints its progress in lines, what it copied, and that both sides are equal', async () => {
    const { code, out, err, copies } = await run(['--from', 'books', '--to', URL_WITH_PASSWORD]);
    expect(code).toBe(0);
    expect(copies).toMatchObject([{ from: '/home/ada/books', to: URL_WITH_PASSWORD }]);
    expect(err.split('\n').filter((line) => line.startsWith('copying'))).toEqual(
      Array.from({ length: 10 }, (_, at) => `copying: ${(at + 1) * 10} % of 40 rows`),
    );
    expect(out).toMatch(/receipts +20/);
    expect(out).toContain('$5.000000001');
    expect(err).toContain('equal, row by row');
  });

  test('shows a bar on a terminal, and clears it at the end', async () => {
    const { err } = await run(['--to', URL_WITH_PASSWORD], { isLive: true });
    expect(err).toContain('\r\u001b[2K███████████████░░░░░░░░░░░░░░░ 50 %  copying, 20 of 40 rows');
    expect(err.lastIndexOf('\r\u001b[2K')).toBeLessThan(err.indexOf('Both ledgers'));
    expect(err.slice(err.lastIndexOf('\r\u001b[2K') + 5)).not.toContain('%');
  });

  test.each([
    [40, '█████░░░░░ 50 %  copying, 20 of 40 rows'],
    [33, '50 %  copying, 20 of 40 rows'],
    [20, '50 %  copying, 20 …'],
  ])(
    'overwrites the whole of its bar on a terminal of %i columns, because it never needs two lines',
    async (columns, shown) => {
      const { err } = await run(['--to', URL_WITH_PASSWORD], { isLive: true, columns });
      const bars = err.split('\r\u001b[2K').slice(1, -1);
      expect(bars).toContain(shown);
      for (const bar of bars) expect([...bar].length).toBeLessThan(columns);
    },
  );

  test('prints nothing but its answer with --json', async () => {
    const { out, err } = await run(['--to', URL_WITH_PASSWORD, '--json'], { isLive: true });
    expect(JSON.parse(out)).toMatchObject({ object: 'store_copy', ok: true, balance_nanousd: 5_000_000_001 });
    expect(err).toBe('');
  });

  test('sends the operator to the database that cannot be reached, and not to the data folder', async () => {
    const answer = new StoreUnavailable('The database does not answer.');
    const { code, err } = await run(['--to', URL_WITH_PASSWORD], { answer });
    expect(code).toBe(EXIT.unreachable);
    expect(err).toMatch(/The database does not answer\.\nTry: .* store check --store URL\n$/);
  });

  test('takes folder and database from the settings, so that no password has to be typed', async () => {
    const env = { TOLLGATE_DATA: '/srv/books', TOLLGATE_STORE: URL_WITH_PASSWORD };
    const { copies } = await run([], { env });
    expect(copies).toMatchObject([{ from: '/srv/books', to: URL_WITH_PASSWORD }]);
  });

  test.each([
    ['a copy that differs', { ...COPY, ok: false, faults: ['call: the row id 7 differs.'] }, 1, 'row id 7'],
    ['other books in the database', { refused: 'The database already contains a ledger.' }, 1, 'already'],
    ['a folder that is in use', { refused: 'in use by process 5', unreachable: true }, 3, 'process 5'],
  ])('ends with a code of its own for %s', async (_, answer, code, words) => {
    const run1 = await run(['--to', URL_WITH_PASSWORD], { answer });
    expect(run1.code).toBe(code);
    expect(run1.err).toContain(words);
    expect(run1.out + run1.err).not.toContain('hunter2');
  });

  test.each([
    ['nothing', [], '--to is missing'],
    ['another database', ['--to', 'mysql://ada:hunter2@db/books'], '--to must be a URL'],
    ['a port that there is not', ['--to', 'postgres://ada:hunter2@127.0.0.1:99999/books'], '--to must be a URL'],
    ['a password with a slash in it', ['--to', 'postgres://ada:hunter2@/x@db/books'], '--to must be a URL'],
  ])('wants a PostgreSQL, not %s', async (_, args, words) => {
    const { code, err, copies } = await run(args);
    expect({ code, copies }).toEqual({ code: 2, copies: [] });
    expect(err).toContain(words);
    expect(err).not.toContain('hunter2');
  });

  test('says that a ledger was copied before and that nothing is left to do', async () => {
    const answer = { object: 'store_copy', ok: true, start: 'copied_before' } as const;
    const { code, out, err } = await run(['--to', URL_WITH_PASSWORD], { answer });
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('Nothing to do');
    expect(JSON.parse((await run(['--to', URL_WITH_PASSWORD, '--json'], { answer })).out)).toEqual(answer);
  });

  test('accepts PostgreSQL’s form of a socket', async () => {
    const socket = 'postgres://ada@/books?host=/run/postgresql';
    expect((await run(['--to', socket])).copies).toMatchObject([{ to: socket }]);
  });
});

test('a URL that names a missing file is a usage error, not a bug', () => {
  expect(asFailure(new StoreMisnamed('The URL of the store is invalid.'))).toMatchObject({ exitCode: 2 });
});
