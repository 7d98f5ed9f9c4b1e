import { accessSync, constants, existsSync, lstatSync, realpathSync, type Stats, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Config } from '../config/config.ts';
import { WorkersRefused, workersFor } from '../config/workers.ts';
import { inspectMasterKeys, isOwnFileMissing, MasterKeyError, readMasterKeys } from '../custody/master-keys.ts';
import { counted } from '../kit/counted.ts';
import { canSharePort } from '../kit/shared-port.ts';
import { shellWord } from '../kit/shell-words.ts';
import { StoreUnavailable } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import { OperatorError } from '../operator/error.ts';
import type { SealStatusView } from '../operator/seal.ts';
import type { AccountView, StatusView } from '../operator/view.ts';
import type { Composition, Holder } from './composition.ts';
import { describeHosts, describeMissingKeys } from './describe-hosts.ts';
import { asFailure } from './failure.ts';
import { type Finding, failure, ok, warning } from './finding.ts';
import { describeOpenFolder } from './folder-mode.ts';
import { type Operator, withOperator } from './reach-operator.ts';
import { describeLoss } from './text-values.ts';

/** As `engines` in package.json says. */
const NODE_MIN = [22, 19] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  if (isEnough) return ok('node', version);
  return failure('node', version, `use Node ${NODE_MIN.join('.')} or newer; "npm start" brings its own`);
}

/** How many threads would serve calls here. */
export async function checkWorkers(workers: Config['workers']): Promise<Finding> {
  try {
    const count = await workersFor(workers, canSharePort);
    const why = workers === 'auto' ? `auto, on ${counted(availableParallelism(), 'core')}` : 'as configured';
    return ok('workers', `${count} (${why})`);
  } catch (error) {
    if (!(error instanceof WorkersRefused)) throw error;
    return failure('workers', error.message, 'set `workers` to 1 or "auto"');
  }
}

export function checkMasterKey({ masterKey }: Config): Finding {
  try {
    return ok('master key', inspectMasterKeys(masterKey));
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error;
    return failure('master key', error.message, 'see docs/custody.md');
  }
}

/** What the ledger says about a key file that is not there; null if it is. */
async function checkMissingKey(operator: Operator, { masterKey }: Config): Promise<Finding | null> {
  if (!isOwnFileMissing(masterKey)) return null;
  if (operator.server !== null) {
    const { source } = (await operator.run('seal.status', {})).result;
    if (realName(source) !== realName(masterKey.path))
      return ok('master key', `${source}, as the running gateway has it`);
    const detail = `${masterKey.path} is missing; the running gateway still has its keys`;
    return failure('master key', detail, 'run "tollgate seal rotate", which writes it again, before the gateway stops');
  }
  const notYet = inspectMasterKeys(masterKey);
  try {
    await operator.run('seal.status', {});
    return null;
  } catch (error) {
    const { message } = asFailure(error);
    return message === notYet ? null : failure('master key', message, 'see docs/custody.md');
  }
}

/** Whether the gateway can decrypt what is stored, now and after a restart. Nothing if it has no usable master keys. */
async function checkSecrets(operator: Operator, { masterKey }: Config): Promise<Finding[]> {
  let status: SealStatusView;
  try {
    status = (await operator.run('seal.secrets', {})).result;
  } catch (error) {
    const code = error instanceof OperatorError ? error.code : null;
    if (code === 'refused') return [];
    // Doctor may have been updated already, and the running gateway not.
    if (code === 'unknown_verb') return [warning('stored secrets', 'the running gateway is older', 'restart it')];
    throw error;
  }
  const { rows, unreadable, source } = status;
  if (unreadable > 0) {
    const detail = `${unreadable} of ${rows} cannot be decrypted with the master keys from ${source}`;
    const remedy =
      'add the master key that encrypted them, after the others; "tollgate seal status" names them, and their owners can store them again';
    return [failure('stored secrets', detail, remedy)];
  }
  const lost = operator.server === null ? 0 : rowsOfLostKeys(status, masterKey);
  if (lost > 0) {
    const detail = `${lost} of ${rows} need a master key that is no longer in ${source}; the running gateway still has it`;
    return [failure('stored secrets', detail, 'put the file back from a copy before the gateway stops')];
  }
  return rows === 0 ? [] : [ok('stored secrets', `${rows}, all can be decrypted`)];
}

/** How many rows the running gateway decrypts with keys that its file had when it was read, and has no longer. */
function rowsOfLostKeys({ source, keys }: SealStatusView, masterKey: Config['masterKey']): number {
  if (masterKey.kind !== 'own-file' || !existsSync(masterKey.path)) return 0;
  if (realName(source) !== realName(masterKey.path)) return 0;
  let inFile: readonly string[];
  try {
    inFile = readMasterKeys(masterKey).map(({ id }) => id);
  } catch (error) {
    if (error instanceof MasterKeyError) return 0;
    throw error;
  }
  return keys.filter(({ id }) => !inFile.includes(id)).reduce((sum, { rows }) => sum + rows, 0);
}

/** The same for all names of a file that may be missing: its folder may have other names, through links. */
function realName(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

const FOLDER_REMEDY = 'run as its owner, or choose another with --data';
const OTHER_FOLDER = 'choose another with --data';

export function checkDataFolder(folder: string): Finding {
  let found: Stats | undefined;
  try {
    found = statSync(folder, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return failure('data folder', `${folder} cannot be reached (${code})`, FOLDER_REMEDY);
  }
  if (found === undefined) return checkMissingFolder(folder);
  if (!found.isDirectory()) return failure('data folder', `${folder} is not a folder`, OTHER_FOLDER);
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return failure('data folder', `${folder} is not writable`, FOLDER_REMEDY);
  }
  const open = describeOpenFolder(folder);
  if (open !== null) return failure('data folder', open.problem, open.remedy);
  if ((found.mode & 0o077) === 0) return ok('data folder', folder);
  return warning('data folder', `other users can open ${folder}`, `chmod 700 ${shellWord(folder)}`);
}

/** The first start creates it, below what exists of its path, unless that is a file or a link that leads nowhere. */
function checkMissingFolder(folder: string): Finding {
  let place = folder;
  while (!isThere(place)) place = dirname(place);
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true)
    return ok('data folder', `${folder} does not exist yet; the first start creates it`);
  return failure('data folder', `${folder} cannot be created, because ${place} is not a folder`, OTHER_FOLDER);
}

/** True for a link that leads nowhere, too. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

const GIB = 1024 ** 3;

export function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(nearestExisting(folder));
  return judgeDisk(bavail * bsize);
}

export function judgeDisk(freeBytes: number): Finding {
  const detail = `${(freeBytes / GIB).toFixed(1)} GiB free`;
  if (freeBytes < LIMITS.diskFreeBytesMin)
    return failure('disk', detail, 'calls are refused until there is more free space');
  return freeBytes < 4 * LIMITS.diskFreeBytesMin
    ? warning('disk', detail, 'free some space before calls are refused')
    : ok('disk', detail);
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

interface BooksFindings {
  readonly findings: readonly Finding[];
  /** The server that has the data folder open. */
  readonly server: Holder | null;
  /** Null if the ledger has nothing to say about the master key. */
  readonly masterKey: Finding | null;
}

/** Who has the ledger open, whether the store answers, and whether the balances are possible. Reads no entries. */
export async function checkBooks(
  composition: Composition,
  config: Config,
  hosts: Config['hosts'] = config.hosts,
): Promise<BooksFindings> {
  if (config.store === null && !composition.hasLedger(config.dataFolder)) {
    return { findings: [ok('ledger', 'none yet')], server: null, masterKey: null };
  }
  try {
    return await withOperator(composition, config, { mayCreate: false }, async (operator) => ({
      findings: [
        ...(config.store === null ? [describeServer(operator.server)] : []),
        ...(await checkSameHosts(operator, hosts)),
        ...(await checkStore(operator)),
        await checkAccounts(operator),
        ...(await checkSecrets(operator, config)),
      ],
      server: operator.server,
      masterKey: await checkMissingKey(operator, config),
    }));
  } catch (error) {
    const { message, hint } = asFailure(error);
    // What the store says of itself is about its files, and no other process is in the way.
    const remedy = remedyFor(config, error instanceof StoreUnavailable ? null : hint);
    return {
      findings: [failure('ledger', message, remedy)],
      server: null,
      masterKey: null,
    };
  }
}

/** The hint of most commands is to run `doctor`, which does not help somebody who has just run it. */
function remedyFor({ store }: Config, hint: string | null): string {
  if (store !== null) return 'see docs/deploy.md';
  if (hint === null) return 'see docs/data-folder.md';
  return hint === 'tollgate doctor' ? 'stop the process that has it open' : hint;
}

function describeServer(server: Holder | null): Finding {
  return ok('gateway', server === null ? 'not running' : `process ${server.pid} at ${server.url}`);
}

/** The checks are about the hosts that this command finds, and a running gateway may have found others in its environment. */
async function checkSameHosts(operator: Operator, hosts: Config['hosts']): Promise<Finding[]> {
  if (operator.server === null) return [];
  const own = hosts.map(({ row }) => row.name).sort();
  const theirs = await hostsOfServer(operator);
  if (theirs === null || theirs.join() === own.join()) return [];
  const named = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
  const detail = `the running gateway has the hosts ${named(theirs)}, and this command ${named(own)}; hosts, keys and the config are checked as this command finds them`;
  return [warning('settings', detail, 'run it with the variables and options of the gateway; see docs/deploy.md')];
}

/** Null if the server cannot say. */
async function hostsOfServer(operator: Operator): Promise<readonly string[] | null> {
  try {
    return (await operator.run('hosts.list', {})).result.data.map(({ id }) => id).sort();
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}

async function checkStore(operator: Operator): Promise<Finding[]> {
  const { store, accepted_losses: losses, clock_behind_ms: behindMs } = (await operator.run('status', {})).result;
  return [
    judgeStore(store),
    ...judgeLedgerClock(behindMs),
    ...losses.map((loss) => ok('accepted loss', describeLoss(loss))),
  ];
}

function judgeStore(store: StatusView['store']): Finding {
  if (!store.ok) return failure('store', store.reason ?? 'does not answer', "see the server's log");
  return store.may_admit
    ? ok('store', 'answers')
    : failure('store', store.reason ?? 'admits no calls', 'calls are refused until this is fixed');
}

/** Nothing to report if the clock is right. */
export function judgeLedgerClock(behindMs: number): Finding[] {
  if (behindMs <= LIMITS.clockBehindMs) return [];
  const detail = `this machine's clock is ${describeSpan(behindMs)} behind the ledger's last call`;
  const remedy =
    'check the clock; if it was ahead before, spend caps stay in their latest window until the clock reaches it';
  return [warning('ledger clock', detail, remedy)];
}

function describeSpan(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours < 2) return counted(Math.round(hours * 60), 'minute');
  return hours < 48 ? `${Math.round(hours)} hours` : `${Math.round(hours / 24)} days`;
}

async function checkAccounts(operator: Operator): Promise<Finding> {
  const { data, next } = (await operator.run('accounts.list', { limit: LIMITS.storePageRowsMax })).result;
  const broken = data.filter(isImpossible);
  const seen = `${counted(data.length, 'account')}${next === null ? '' : ' checked, there are more'}`;
  if (broken.length === 0)
    return ok('ledger', `${seen}, balances are consistent; "tollgate ledger verify" checks every entry`);
  return failure(
    'ledger',
    `impossible balance: ${broken.map(({ name }) => name).join(', ')}`,
    'tollgate ledger verify',
  );
}

/** A prepaid account never owes, and never holds and reserves more than its balance. */
function isImpossible(account: AccountView): boolean {
  const { kind, balance_nanousd: balance, held_nanousd: held, reserved_nanousd: reserved } = account;
  return held < 0n || reserved < 0n || (kind === 'prepaid' && held + reserved > balance);
}

/** The hosts in use. Without a real host, names the variables that would enable one. */
export function checkHosts(config: Config): Finding {
  if (config.hosts.length === 0) return failure('hosts', 'none', 'set a provider key, add a host, or remove --no-sim');
  const found = describeHosts(config.hosts);
  if (found.length > 0) return ok('hosts', found.join(', '));
  const missing = describeMissingKeys(config);
  return ok('hosts', `only the simulated host${missing === '' ? '' : `; set ${missing} to call real models`}`);
}

/** The running server's address, or else whether the configured port is free. */
export async function checkPort(listen: Config['listen'], server: Holder | null): Promise<Finding> {
  const place = `${listen.host}:${listen.port}`;
  if (server?.url != null) {
    const other = portOf(server.url) === listen.port || listen.port === 0 ? '' : `; the config names ${place}`;
    return ok('port', `process ${server.pid} is listening on ${server.url}${other}`);
  }
  const error = await tryListening(listen);
  if (error === null) return ok('port', `${place} is free`);
  return failure('port', `cannot listen on ${place} (${error})`, 'choose another with --port');
}

/** Where the management API is, and whether its own port is free unless the running server may have it. */
export async function checkConsole(
  { console: isServed, listen }: Pick<Config, 'console' | 'listen'>,
  server: Holder | null,
): Promise<Finding> {
  const { host, consolePort } = listen;
  const place = describeConsole({ console: isServed, listen });
  if (!isServed || consolePort === null || server !== null) return ok('management API', place);
  const error = await tryListening({ host, port: consolePort });
  if (error === null) return ok('management API', `${place} is free`);
  return failure('management API', `cannot listen on ${place} (${error})`, 'choose another port with --console-port');
}

export function describeConsole({ console: isServed, listen }: Pick<Config, 'console' | 'listen'>): string {
  if (!isServed) return 'not served';
  return listen.consolePort === null ? 'on the same port as calls' : `${listen.host}:${listen.consolePort}`;
}

function portOf(url: string): number {
  return Number(URL.parse(url)?.port ?? Number.NaN);
}

function tryListening({ host, port }: Pick<Config['listen'], 'host' | 'port'>): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port }, () => probe.close(() => resolve(null)));
  });
}
