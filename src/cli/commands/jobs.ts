import { randomUUID } from 'node:crypto';
import { accessSync, constants, createReadStream, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { GROUP_PREFIX, JOB_PREFIX } from '../../canonical/id-prefixes.ts';
import { CALLER_KEY_VARIABLE } from '../../config/config.ts';
import { proxyFor } from '../../config/proxies.ts';
import { counted } from '../../kit/counted.ts';
import { pause } from '../../kit/pause.ts';
import { shellWord } from '../../kit/shell-words.ts';
import { LIMITS } from '../../limits.ts';
import { JOB_STATUSES, type JobGroupView, type JobView } from '../../operator/job-view.ts';
import type { ListView } from '../../operator/view.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { unreachable, usageFailure } from '../failure.ts';
import { GatewayClient, GatewayLost, type SendRequest } from '../gateway-client.ts';
import { findGateway } from '../gateway-url.ts';
import { readOperatorJson } from '../operator-json.ts';
import { PAGE_OPTIONS, sayMore } from '../paging.ts';
import { ProgressLine } from '../progress.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../table.ts';
import { readVariableName } from '../text-values.ts';
import { describeGroup, describeJob, GROUP_COLUMNS, JOB_COLUMNS } from './describe-job.ts';
import { readCeiling, readListQuery, readTermsQuery } from './job-options.ts';
import { failRestoredCommand, resumeRestoredCommand } from './jobs-restored.ts';
import { endOf, isGroup, saveResult, waitForEnd } from './jobs-wait.ts';

const GATEWAY_OPTIONS = [
  ['--url <url>', 'address of the gateway, if it is not the one that uses this data folder'],
  ['--key-env <name>', `variable that holds the gateway key (${CALLER_KEY_VARIABLE})`],
] as const;
const OUT_OPTION = ['--out <file>', 'file for the results, which must not exist yet (standard output)'] as const;

const submitCommand: CommandSpec = {
  name: 'submit <file>',
  summary: 'submit a batch file, with one request per line, as a group of deferred jobs',
  options: [
    ['--wait', 'wait until every job has ended, and write the results'],
    OUT_OPTION,
    ['--not-before <when>', 'earliest start: a time like 2027-01-31T12:00:00Z, or a duration from now, like 8h'],
    ['--expires-at <when>', 'latest start, at most 30 days ahead (24h)'],
    ['--webhook <name>', 'webhook that is called when the group has ended'],
    ['--max-cost-nanousd <amount>', 'refuse the group if it could cost more than this in all'],
    ...GATEWAY_OPTIONS,
  ],
  examples: ['tollgate jobs submit batch.jsonl', 'tollgate jobs submit batch.jsonl --wait --out results.jsonl'],
  async run(session, [file = ''], options) {
    const out = readOut(session, options);
    if (out !== null && options.wait !== true)
      throw usageFailure('--out needs --wait: results come when the jobs have ended.');
    const terms = { query: readTermsQuery(options, session.composition.clock), ceiling: readCeiling(options) };
    const client = await openClient(session, options);
    const text = await sendFile(session, client, file, terms);
    const group = readOperatorJson(text) as JobGroupView;
    if (options.wait !== true) {
      session.show({ text, result: group }, ({ id }) => id);
      session.advise(
        `Accepted ${counted(group.counts.total, 'job')}. Get the results: tollgate jobs wait ${group.id}${sameGateway(options)} --out results.jsonl`,
      );
      return EXIT.ok;
    }
    session.advise(
      `Accepted ${counted(group.counts.total, 'job')} as ${group.id}. If this is interrupted: ${waitAgain(group.id, options)}`,
    );
    return finish(session, client, { id: group.id, out, options });
  },
};

/** The results are at the gateway that took the jobs, for the key that sent them. */
function sameGateway({ url, keyEnv }: Options): string {
  const place = typeof url === 'string' ? ` --url ${shellWord(url)}` : '';
  return typeof keyEnv === 'string' ? `${place} --key-env ${shellWord(keyEnv)}` : place;
}

/** Goes on with the file that was begun. */
function waitAgain(id: string, options: Options): string {
  const { out } = options;
  const file = typeof out === 'string' ? ` --out ${shellWord(out)}` : '';
  return `tollgate jobs wait ${id}${sameGateway(options)}${file}`;
}

const waitCommand: CommandSpec = {
  name: 'wait <id>',
  summary: 'wait for the end of a job or a group, and write its results; continues where an interrupted wait stopped',
  options: [OUT_OPTION, ...GATEWAY_OPTIONS],
  examples: ['tollgate jobs wait grp_… --out results.jsonl', 'tollgate jobs wait job_…'],
  async run(session, [id = ''], options) {
    const sought = { id: readId(id), out: readOut(session, options), options };
    return finish(session, await openClient(session, options), sought);
  },
};

const resultCommand: CommandSpec = {
  name: 'result <id>',
  summary: 'write the results of a job or group that has ended',
  options: [OUT_OPTION, ...GATEWAY_OPTIONS],
  examples: ['tollgate jobs result job_…', 'tollgate jobs result grp_… --out results.jsonl'],
  async run(session, [id = ''], options) {
    const place = { out: readOut(session, options), gateway: sameGateway(options) };
    await saveResult(session, await openClient(session, options), readId(id), place);
    return EXIT.ok;
  },
};

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list jobs, or groups, the newest first',
  options: [
    ['--groups', 'list groups instead of jobs'],
    ['--group <id>', 'only the jobs of this group, in the order of its lines'],
    ['--status <status>', `only jobs with this status: ${JOB_STATUSES.join(', ')}`],
    ...PAGE_OPTIONS,
    ...GATEWAY_OPTIONS,
  ],
  examples: ['tollgate jobs list --status failed', 'tollgate jobs list --groups'],
  async run(session, _args, options) {
    const query = readListQuery(options);
    const isOfGroups = options.groups === true;
    const text = await (await openClient(session, options)).text('GET', `/jobs${isOfGroups ? '/groups' : ''}?${query}`);
    const result = readOperatorJson(text) as ListView<JobView | JobGroupView>;
    const words = isOfGroups
      ? () => formatTable(GROUP_COLUMNS, result.data as JobGroupView[])
      : () => formatTable(JOB_COLUMNS, result.data as JobView[]);
    session.show({ text, result }, () => (result.data.length === 0 ? '' : words()));
    if (result.data.length === 0) session.advise(`No ${isOfGroups ? 'groups' : 'jobs'} match.`);
    sayMore(session, result.next);
    return EXIT.ok;
  },
};

const showCommand: CommandSpec = {
  name: 'show <id>',
  summary: 'show a job or a group',
  options: GATEWAY_OPTIONS,
  examples: ['tollgate jobs show job_…', 'tollgate jobs show grp_…'],
  run: (session, [id = ''], options) => showAnswer(session, readId(id), options, 'GET', ''),
};

const cancelCommand: CommandSpec = {
  name: 'cancel <id>',
  summary: 'cancel a job, or all unfinished jobs of a group',
  options: GATEWAY_OPTIONS,
  examples: ['tollgate jobs cancel job_…', 'tollgate jobs cancel grp_…'],
  run: (session, [id = ''], options) => showAnswer(session, readId(id), options, 'POST', '/cancel'),
};

export const jobsCommands: CommandGroup = {
  name: 'jobs',
  summary: 'submit deferred jobs, follow them, and get their results',
  commands: [
    submitCommand,
    waitCommand,
    resultCommand,
    listCommand,
    showCommand,
    cancelCommand,
    resumeRestoredCommand,
    failRestoredCommand,
  ],
};

async function showAnswer(
  session: Session,
  id: string,
  options: Options,
  method: 'GET' | 'POST',
  rest: string,
): Promise<number> {
  const text = await (await openClient(session, options)).text(method, pathOf(id) + rest);
  const result = readOperatorJson(text) as JobView | JobGroupView;
  session.show({ text, result }, (shown) => (shown.object === 'job' ? describeJob(shown) : describeGroup(shown)));
  return EXIT.ok;
}

/** What a command waits for, and where its results go. */
interface Sought {
  readonly id: string;
  readonly out: string | null;
  readonly options: Options;
}

async function finish(session: Session, client: GatewayClient, { id, out, options }: Sought): Promise<number> {
  const ended = await waitForEnd(session, client, id, waitAgain(id, options));
  const place = { out, gateway: sameGateway(options) };
  if (isGroup(ended) || endOf(ended) === 'answered') await saveResult(session, client, id, place);
  session.advise(isGroup(ended) ? describeGroup(ended) : describeJob(ended));
  return endOf(ended) === 'answered' && !hasFailures(ended) ? EXIT.ok : EXIT.no;
}

function hasFailures(ended: JobView | JobGroupView): boolean {
  return isGroup(ended) ? ended.counts.succeeded < ended.counts.total : ended.status !== 'succeeded';
}

interface GroupTerms {
  readonly query: URLSearchParams;
  readonly ceiling: string | null;
}

/** Sends the file again under the same idempotency key if the answer is lost, so that it is accepted once. */
async function sendFile(session: Session, client: GatewayClient, file: string, terms: GroupTerms): Promise<string> {
  const path = session.pathOf(file);
  const bytes = sizeOf(path, file);
  if (bytes > LIMITS.groupBytesMax)
    throw usageFailure(`${file} has more than ${LIMITS.groupBytesMax} bytes. Split it into several files.`);
  const headers = {
    'idempotency-key': randomUUID(),
    ...(terms.ceiling !== null && { 'x-gateway-max-cost-nanousd': terms.ceiling }),
  };
  const line = new ProgressLine(session);
  const tell = (sent: number): void =>
    line.tell(`sending ${file}`, Math.ceil(sent / 1024), Math.ceil(bytes / 1024), 'KB');
  const send = (): Promise<string> => {
    const body = Readable.from(countedPieces(createReadStream(path), tell));
    return client.upload(`/jobs/groups?${terms.query}`, { body, bytes, type: 'application/jsonl', headers });
  };
  try {
    return await sendUntilAnswered(session, send);
  } finally {
    line.end();
  }
}

async function sendUntilAnswered(session: Session, send: () => Promise<string>): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof GatewayLost) || attempt >= LIMITS.jobUploadAttemptsMax) throw error;
      await pause(session.composition.clock, LIMITS.jobPollMs);
    }
  }
}

/** Reads only when a piece is taken. A listener would lose the pieces that come while a proxy is still being asked. */
async function* countedPieces(file: AsyncIterable<Buffer>, tell: (sent: number) => void): AsyncGenerator<Buffer> {
  let sent = 0;
  for await (const piece of file) {
    sent += piece.length;
    tell(sent);
    yield piece;
  }
}

/** A file that cannot be read would look like a gateway that cannot be reached. */
function sizeOf(path: string, file: string): number {
  if (!existsSync(path)) throw usageFailure(`There is no file ${file}.`);
  refuseWithout(path, constants.R_OK, `Cannot read ${file}`);
  const found = statSync(path);
  if (!found.isFile()) throw usageFailure(`${file} is not a file.`);
  return found.size;
}

function refuseWithout(path: string, access: number, message: string): void {
  try {
    accessSync(path, access);
  } catch (error) {
    throw usageFailure(`${message} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

async function openClient(session: Session, options: Options): Promise<GatewayClient> {
  const config = session.config('leave');
  const { url, needsKey, isCertain } = await findGateway(session, options.url, config);
  const { keyEnv } = options;
  const variable = typeof keyEnv === 'string' ? readVariableName(keyEnv, '--key-env') : CALLER_KEY_VARIABLE;
  const key = session.env[variable] ?? null;
  if (key === null && (typeof keyEnv === 'string' || needsKey))
    throw usageFailure(
      `The variable ${variable} is not set. Put a gateway key into it, or name another with --key-env.`,
    );
  if (!isCertain && config.store === null && session.composition.hasLedger(config.dataFolder))
    throw unreachable(
      `No gateway is running on the data folder ${config.dataFolder}. Start it, or name the address of another one with --url.`,
    );
  const isNamed = options.url !== undefined;
  return new GatewayClient({ url, key: key === '' ? null : key, isNamed }, isNamed ? proxiedSend(session, url) : null);
}

/** Null if the gateway is reached directly, like the one on this machine. */
function proxiedSend({ composition, env }: Session, url: string): SendRequest | null {
  const proxy = proxyFor(new URL(url), env);
  return proxy === null ? null : (request) => composition.sendThroughProxy(proxy, request);
}

function readId(typed: string): string {
  if (/^(?:job|grp)_\w+$/.test(typed)) return typed;
  throw usageFailure(
    `"${typed}" is not the id of a job or a group, like ${JOB_PREFIX}… or ${GROUP_PREFIX}….`,
    'tollgate jobs list',
  );
}

function pathOf(id: string): string {
  return id.startsWith(GROUP_PREFIX) ? `/jobs/groups/${id}` : `/jobs/${id}`;
}

function readOut(session: Session, { out }: Options): string | null {
  if (typeof out !== 'string') return null;
  const path = session.pathOf(out);
  if (existsSync(path)) throw usageFailure(`${out} exists already. Name another file with --out.`);
  refuseWithout(`${dirname(path)}/.`, constants.W_OK, `Cannot write ${out}`);
  return path;
}
