import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: readonly string[]): Mutant {
  return { name, changes: [{ file, find, replace }], tests };
}

const ROUTES = 'src/http/jobs/job-routes.ts';
const RECEIVE = 'src/http/jobs/receive-group.ts';
const E2E = 'test/jobs-routes.test.ts';
const RECEIVE_TEST = 'src/http/jobs/receive-group.test.ts';

/** Faults of the routes of deferred jobs, of their commands and their events. */
export const JOB_ROUTE_MUTANTS: readonly Mutant[] = [
  mutant(
    'commands that ask the configured port instead of the gateway of the data folder',
    'src/cli/gateway-url.ts',
    'await composition.findHolder(config.dataFolder)',
    'await composition.findHolder(config.dataFolder).then(() => null)',
    'src/cli/jobs.test.ts',
  ),
  mutant(
    'a job that every key of its account sees',
    ROUTES,
    "if (missingPermission(caller, 'account_read') === null) return",
    "if (missingPermission(caller, 'account_read') !== undefined) return",
    E2E,
  ),
  mutant(
    'a job that a reader of the account cancels',
    ROUTES,
    '  if (isOwn) return;\n',
    '  if (isOwn || key !== null) return;\n',
    E2E,
  ),
  mutant('a result with the ids of the request that reads it', ROUTES, ', hasIds: true, whenSent', ', whenSent', E2E),
  mutant(
    'results that keep their memory after they were sent',
    'src/http/server.ts',
    'else if (whenSent !== undefined) callAfter(response, whenSent);',
    'else void callAfter;',
    E2E,
  ),
  mutant(
    'results without a limit of memory',
    ROUTES,
    'if (!resultMemory.take(keyId, bytes, accountId)) throw tooManyResults();',
    'if (!resultMemory.take(keyId, bytes, accountId)) void tooManyResults();',
    'src/http/jobs/job-results.test.ts',
  ),
  mutant(
    'results after a job of another group, which look complete',
    ROUTES,
    'if (job?.groupId !== groupId) throw',
    'if (job === undefined) throw',
    'test/jobs-groups.test.ts',
  ),
  mutant(
    'results of a group that has not ended',
    ROUTES,
    '  if (group.finishedMs === null) throw groupNotFinished();\n',
    '',
    'test/jobs-groups.test.ts',
  ),
  mutant(
    'the same id on two lines',
    RECEIVE,
    'if (before !== undefined) throw',
    'if (before === line) throw',
    RECEIVE_TEST,
  ),
  mutant('lines of a refused group that stay', RECEIVE, '    await intake.abandon();\n', '', RECEIVE_TEST),
  mutant(
    'a stream as a job',
    'src/http/jobs/read-fields.ts',
    'if (stream === undefined || stream === null || stream === false) return;',
    'if (stream !== undefined) return;',
    'src/http/jobs/read-submission.test.ts',
  ),
  mutant(
    'a group that is read faster than it is stored',
    'src/http/body-lines.ts',
    '      this.#request.pause();\n',
    '',
    'src/http/body-lines.test.ts',
  ),
  mutant(
    'a body that breaks off and is taken for whole',
    'src/http/body-lines.ts',
    "    if (this.#state === 'broken') throw brokenOff();\n",
    '',
    'src/http/body-lines.test.ts',
  ),
  mutant(
    'an event for every job of a group',
    'src/webhooks/job-events.ts',
    "if (subject === null || ('groupId' in subject && subject.groupId !== null)) return null;",
    'if (subject === null) return null;',
    'src/webhooks/job-events.test.ts',
  ),
  mutant(
    'a member who sees the jobs of others',
    'src/manage/authorize.ts',
    '  if ((await ownedBy(membersOwn, input, store))',
    "  if (!membersOwn.startsWith('job') && (await ownedBy(membersOwn, input, store))",
    'test/roles.test.ts',
  ),
  mutant(
    'a member who does not see their own jobs',
    'src/manage/authorize.ts',
    "const isNamed = membersOwn === 'receipt' || membersOwn === 'job' || membersOwn === 'job_group';",
    "const isNamed = membersOwn === 'receipt';",
    'test/roles.test.ts',
  ),
  mutant(
    'a file of results that begins again',
    'src/cli/commands/jobs-wait.ts',
    'const after = existsSync(part) ? lastWholeLine(part) : null;',
    'const after = null;',
    'src/cli/jobs.test.ts',
  ),
];
