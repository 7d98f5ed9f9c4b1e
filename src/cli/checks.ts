import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import { inspectMasterKeys, MasterKeyError } from '../custody/master-keys.ts';
import { LIMITS } from '../limits.ts';
import type { AccountView } from '../operator/view.ts';
import type { Composition, Holder } from './composition.ts';
import { describeHosts, describeMissingKeys } from './describe-hosts.ts';
import { asFailure } from './failure.ts';
import type { Finding } from './finding.ts';
import { type Operator, withOperator } from './reach-operator.ts';

const ok = (check: string, detail: string): Finding => ({ check, status: 'ok', detail, remedy: null });
const warning = (check: string, detail: string, remedy: string): Finding => ({
  check,
  status: 'warning',
  detail,
  remedy,
});
const failure = (check: string, detail: string, remedy: string): Finding => ({
  check,
  status: 'failure',
  detail,
  remedy,
});

/** As `engines` in package.json says. */
const NODE_MIN = [22, 19] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  if (isEnough) return ok('node', version);
  return failure('node', version, `Node ${NODE_MIN.join('.')} or newer is needed; "npm start" brings its own`);
}

export function checkMasterKey({ masterKey }: Config): Finding {
  try {
    return ok('master key', inspectMasterKeys(masterKey));
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error;
    return failure('master key', error.message, 'docs/custody.md says where it comes from');
  }
}

export function checkDataFolder(folder: string): Finding {
  if (!existsSync(folder)) return ok('data folder', `${folder} is not there yet; the first start makes it`);
  const { mode } = statSync(folder);
  if (!statSync(folder).isDirectory())
    return failure('data folder', `${folder} is no folder`, 'name another with --data');
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return failure('data folder', `${folder} may not be written to`, 'run as its owner, or name another with --data');
  }
  if ((mode & 0o077) === 0) return ok('data folder', folder);
  return warning('data folder', `${folder} is open to other users`, `chmod 700 ${folder}`);
}

const GIB = 1024 ** 3;

export function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(nearestExisting(folder));
  return judgeDisk(bavail * bsize);
}

export function judgeDisk(freeBytes: number): Finding {
  const detail = `${(freeBytes / GIB).toFixed(1)} GiB free`;
  if (freeBytes < LIMITS.diskFreeBytesMin) return failure('disk', detail, 'calls are refused until there is more room');
  return freeBytes < 4 * LIMITS.diskFreeBytesMin
    ? warning('disk', detail, 'make room before calls are refused')
    : ok('disk', detail);
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

export interface BooksFindings {
  readonly findings: readonly Finding[];
  /** The server that has the books now. */
  readonly server: Holder | null;
}

/** Who holds the folder, whether the store answers, and the sums that can be checked without reading every entry. */
export async function checkBooks(composition: Composition, config: Config): Promise<BooksFindings> {
  if (config.store === null && !existsSync(config.dataFolder)) {
    return { findings: [ok('books', 'none yet')], server: null };
  }
  try {
    return await withOperator(composition, config, { mayCreate: false }, async (operator) => ({
      findings: [describeHolder(operator.server), await checkStore(operator), await checkAccounts(operator)],
      server: operator.server,
    }));
  } catch (error) {
    return { findings: [failure('books', asFailure(error).message, 'stop the process that holds them')], server: null };
  }
}

function describeHolder(server: Holder | null): Finding {
  return ok('holder', server === null ? 'nobody; no server runs' : `process ${server.pid} at ${server.url}`);
}

async function checkStore(operator: Operator): Promise<Finding> {
  const { store } = (await operator.run('status', {})).result;
  if (!store.ok) return failure('store', store.reason ?? 'does not answer', 'see the log of the server');
  return store.may_admit
    ? ok('store', 'answers')
    : failure('store', store.reason ?? 'admits no calls', 'no call is served until that is mended');
}

async function checkAccounts(operator: Operator): Promise<Finding> {
  const { data, next } = (await operator.run('accounts.list', { limit: LIMITS.storePageRowsMax })).result;
  const broken = data.filter(isImpossible);
  const seen = `${data.length} accounts${next === null ? '' : ' (the first)'}`;
  if (broken.length === 0) return ok('books', `${seen}, none impossible; "tollgate ledger verify" proves every entry`);
  return failure('books', `impossible balance: ${broken.map(({ name }) => name).join(', ')}`, 'tollgate ledger verify');
}

/** A prepaid account never owes, and never holds more than it has. */
function isImpossible(account: AccountView): boolean {
  const { kind, balance_nanousd: balance, held_nanousd: held } = account;
  return held < 0n || (kind === 'prepaid' && held > balance);
}

/** The hosts that were found, whichever way; a host that serves nothing is told with what is missing. */
export function checkHosts(config: Config): Finding {
  if (config.hosts.length === 0)
    return failure('hosts', 'none', 'set a provider key, add a host, or leave out --no-sim');
  const found = describeHosts(config.hosts);
  if (found.length > 0) return ok('hosts', found.join(', '));
  const missing = describeMissingKeys(config);
  return ok('hosts', `only the simulated one${missing === '' ? '' : `; set ${missing} to call real models`}`);
}

/** Where the running server listens; without one, whether the next could listen where the config says. */
export async function checkPort(listen: Config['listen'], server: Holder | null): Promise<Finding> {
  const place = `${listen.host}:${listen.port}`;
  if (server?.url != null) {
    const other = portOf(server.url) === listen.port || listen.port === 0 ? '' : `; the config says ${place}`;
    return ok('port', `${server.url} is served by process ${server.pid}${other}`);
  }
  const error = await tryListening(listen);
  if (error === null) return ok('port', `${place} is free`);
  return failure('port', `${place} cannot be listened on (${error})`, 'choose another with --port');
}

function portOf(url: string): number {
  return Number(URL.parse(url)?.port ?? Number.NaN);
}

function tryListening({ host, port }: Config['listen']): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port }, () => probe.close(() => resolve(null)));
  });
}
