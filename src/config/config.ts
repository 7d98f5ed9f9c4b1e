import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { modelsInForce } from '../catalog/installed.ts';
import type { ModelRow, PriceRow } from '../catalog/schema.ts';
import type { MasterKeySource } from '../custody/master-keys.ts';
import { configureHosts, type HostSelection } from '../hosts/configure.ts';
import type { HealthSettings } from '../hosts/health-settings.ts';
import type { ConfiguredHost, HostRow } from '../hosts/host.ts';
import type { Environment } from '../hosts/read-key.ts';
import { isLoopback } from '../hosts/schema.ts';
import { type ConfigAlerts, readAlerts } from './alerts.ts';
import { readHealth } from './health.ts';
import { defaultDataFolder } from './home-folders.ts';
import { type ConfigJobs, readJobs } from './jobs.ts';
import { type ConfigLoadLimits, type ConfigRateLimit, readLoadLimits, readRateLimit } from './load-limits.ts';
import { lossProblems } from './losses.ts';
import { MASTER_KEY_VARIABLES, selectMasterKey } from './master-key.ts';
import { catalogProblems, repeatedModels, strayHosts } from './models.ts';
import { consolePortProblems, ownAddressProblems } from './ports.ts';
import { ConfigError, type ConfigProblem, problemsOf } from './problems.ts';
import { withProxies } from './proxies.ts';
import { parseConfigFile } from './read-file.ts';
import { type ConfigLimits, readLimits } from './read-limits.ts';
import { type ConfigSso, readSso } from './read-sso.ts';
import { type ConfigRetention, readRetention } from './retention.ts';
import {
  type ConfigFile,
  configFileSchema,
  folderSchema,
  hostHeadersSchema,
  type LogLevel,
  listenAddressSchema,
  logLevelSchema,
  originsSchema,
  portSchema,
  publicUrlSchema,
  type Transport,
  transportSchema,
  trustedProxiesSchema,
} from './schema.ts';
import {
  FROM_FILE,
  type PlaceOfSetting,
  pathOfFlag,
  pathsIn,
  placeOf,
  type SettingSources,
} from './setting-sources.ts';
import { type PostgresPlace, readStore, storeUrlSchema } from './store.ts';
import { type ConfigTracing, readTracing } from './tracing.ts';
import { type UnknownVariable, unknownVariables } from './unknown-variables.ts';
import { type Workers, workersTextSchema } from './workers.ts';

export type { Environment } from '../hosts/read-key.ts';
export { ConfigError, type ConfigProblem, describeProblem } from './problems.ts';
export { configJsonSchema, TRANSPORTS, type Transport } from './schema.ts';

export const CONFIG_FILE_NAME = 'tollgate.config.json';
const FILE_VARIABLE = 'TOLLGATE_CONFIG';
/** Holds the key of a caller, for commands that call a gateway and for clients. */
export const CALLER_KEY_VARIABLE = 'TOLLGATE_API_KEY';

export interface Config {
  /** The file that was read; null when there was none. */
  readonly file: string | null;
  readonly listen: {
    readonly host: string;
    readonly port: number;
    readonly operationsHost: string;
    readonly operationsPort: number;
    /** Null: the management API is on the callers' port. */
    readonly consolePort: number | null;
  };
  /** Absolute. */
  readonly dataFolder: string;
  /** Null if the ledger is in the data folder. */
  readonly store: PostgresPlace | null;
  readonly hosted: boolean;
  /** Whether the management API and its pages are served. */
  readonly console: boolean;
  /** Where the master keys come from, which encrypt stored provider keys; not read yet. */
  readonly masterKey: MasterKeySource;
  /** Where people reach the gateway, without a trailing slash; null if it is not configured. */
  readonly publicUrl: string | null;
  /** Single sign-on; null if it is not configured, or secrets were not read. */
  readonly sso: ConfigSso | null;
  /** Addresses and networks whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly origins: readonly string[];
  readonly logLevel: LogLevel;
  /** Which HTTP code serves callers and calls hosts. */
  readonly transport: Transport;
  /** Threads that serve calls. */
  readonly workers: Workers;
  readonly limits: ConfigLimits;
  readonly rateLimit: ConfigRateLimit;
  /** When hosts are ejected. */
  readonly health: HealthSettings;
  readonly loadLimits: ConfigLoadLimits;
  readonly retention: ConfigRetention;
  /** Null: calls are not traced. */
  readonly tracing: ConfigTracing | null;
  /** When alerts are raised. */
  readonly alerts: ConfigAlerts;
  /** Which metrics there are for single accounts and keys. */
  readonly metrics: { readonly perAccount: boolean; readonly perKey: boolean };
  readonly jobs: ConfigJobs;
  /** False: every frame of a stream is parsed, even if it repeats an earlier one. */
  readonly frameMemory: boolean;
  /** Hosts that can be called; none if secrets were not read. */
  readonly hosts: readonly ConfiguredHost[];
  /** Local model servers that may run on their usual ports; probed at start. */
  readonly guessedHosts: readonly ConfiguredHost[];
  /** Built-in hosts that lack a key or an address. */
  readonly hostsWithoutKey: readonly HostRow[];
  readonly models: readonly ModelRow[];
  readonly prices: ReadonlyMap<string, PriceRow>;
  readonly defaultModel: string | null;
  readonly settingSources: SettingSources;
  /** TOLLGATE_* variables that are set and not read. */
  readonly unknownVariables: readonly UnknownVariable[];
}

export interface ConfigSources {
  /** Flags from the command line, by long name in camel case. */
  readonly argvFlags: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Environment;
  readonly cwd: string;
  /** Commands that call no host do not read keys and secrets, so that an unreadable one does not stop them. */
  readonly secrets?: 'read' | 'leave';
}

/** The environment of this process; nothing else in the product reads it. */
export function processEnvironment(): Environment {
  return process.env;
}

/** Flags override TOLLGATE_* variables, which override the file, which overrides the defaults. Throws a ConfigError. */
export function loadConfig(sources: ConfigSources): Config {
  const problems: ConfigProblem[] = [];
  const file = findFile(sources);
  const written = file === null ? {} : parseConfigFile(file);
  const draft = readConfigFile(written, file ?? CONFIG_FILE_NAME);
  if (file !== null && draft.data !== undefined) draft.data = resolve(dirname(file), draft.data);
  const settingSources = new Map(pathsIn(written).map((path) => [path, FROM_FILE]));
  applySettings(draft, sources, settingSources, problems);
  const placeOfSetting = (path: string) => placeOf(path, settingSources, file);
  problems.push(...exposureProblems(draft, placeOfSetting), ...consolePortProblems(draft, placeOfSetting));
  const hosts = selectHosts(draft, sources, file ?? CONFIG_FILE_NAME, problems);
  const config = assemble(draft, file, hosts, sources, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const known = [...KNOWN_VARIABLES, ...draft.hosts.flatMap(({ key_env: name = '' }) => [name, `${name}_FILE`])];
  return { ...config, settingSources, unknownVariables: unknownVariables(sources.env, known) };
}

function assemble(
  draft: ConfigFile,
  file: string | null,
  hosts: HostSelection,
  { env, cwd, secrets }: ConfigSources,
  problems: ConfigProblem[],
): Omit<Config, 'settingSources' | 'unknownVariables'> {
  const { hosted } = draft;
  const dataFolder = draft.data ?? defaultDataFolder(env);
  return {
    file,
    listen: {
      host: draft.listen.host,
      port: draft.listen.port,
      operationsHost: draft.listen.operations_host,
      operationsPort: draft.listen.operations_port,
      consolePort: draft.listen.console_port,
    },
    dataFolder,
    store: readStore(draft.store),
    hosted,
    console: draft.console,
    masterKey: selectMasterKey({ env, cwd, file, fields: draft, hosted, dataFolder }, problems),
    publicUrl: draft.public_url ?? null,
    sso: secrets === 'leave' ? null : readSso(draft.sso, { file, publicUrl: draft.public_url, hosted }, problems),
    trustedProxies: draft.trusted_proxies,
    allowedHosts: draft.allowed_hosts.map((host) => host.toLowerCase()),
    origins: draft.origins,
    logLevel: draft.log_level,
    transport: draft.transport,
    workers: draft.workers,
    limits: readLimits(draft.limits, hosted),
    rateLimit: readRateLimit(draft.rate_limit),
    health: readHealth(draft.health),
    loadLimits: readLoadLimits(draft.load_limits),
    retention: readRetention(draft.retention, file),
    tracing: readTracing(env, problems),
    alerts: readAlerts(draft.alerts),
    metrics: { perAccount: draft.metrics.per_account, perKey: draft.metrics.per_key },
    jobs: readJobs(draft.jobs),
    frameMemory: draft.frame_memory,
    hosts: hosts.configured,
    guessedHosts: hosts.guessed,
    hostsWithoutKey: hosts.withoutKey,
    models: draft.models,
    prices: new Map(Object.entries(draft.prices)),
    defaultModel: draft.default_model ?? null,
  };
}

function findFile({ argvFlags, env, cwd }: ConfigSources): string | null {
  const named = argvFlags.config ?? (env[FILE_VARIABLE] || undefined);
  if (typeof named === 'string') return resolve(cwd, named);
  const usual = join(cwd, CONFIG_FILE_NAME);
  return statSync(usual, { throwIfNoEntry: false })?.isFile() ? usual : null;
}

function readConfigFile(written: unknown, file: string): ConfigFile {
  const parsed = configFileSchema.safeParse(written);
  if (!parsed.success) throw new ConfigError(problemsOf(parsed.error, file));
  return parsed.data;
}

/** A setting that exists outside the file: its flag, its variable, and how its text is read. */
interface Setting {
  readonly flag: string;
  readonly variable: string;
  put(draft: ConfigFile, text: string, cwd: string): z.ZodError | null;
}

function setting<T>(
  flag: string,
  variable: string,
  schema: z.ZodType<T>,
  assign: (draft: ConfigFile, value: T, cwd: string) => void,
): Setting {
  return {
    flag,
    variable,
    put(draft, text, cwd) {
      const parsed = schema.safeParse(text);
      if (!parsed.success) return parsed.error;
      assign(draft, parsed.data, cwd);
      return null;
    },
  };
}

/** A Service named `tollgate` sets TOLLGATE_PORT in every pod of its namespace. */
const SERVICE_LINK =
  'must be a whole number; Kubernetes has set it for a Service of that name: ' +
  'set enableServiceLinks to false in the pod, or give the Service another name';
const wholeNumber = z
  .string()
  .regex(/^(?!tcp:|udp:)/, { message: SERVICE_LINK, abort: true })
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
const yesOrNo = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');

/** Every setting with a flag and a variable; a test compares them with docs/config.md. */
export const SETTINGS: readonly Setting[] = [
  setting('port', 'TOLLGATE_PORT', wholeNumber.pipe(portSchema), (draft, port) => (draft.listen.port = port)),
  setting('host', 'TOLLGATE_HOST', listenAddressSchema, (draft, host) => (draft.listen.host = host)),
  setting(
    'operationsHost',
    'TOLLGATE_OPERATIONS_HOST',
    listenAddressSchema,
    (draft, host) => (draft.listen.operations_host = host),
  ),
  setting(
    'operationsPort',
    'TOLLGATE_OPERATIONS_PORT',
    wholeNumber.pipe(portSchema),
    (draft, port) => (draft.listen.operations_port = port),
  ),
  setting(
    'consolePort',
    'TOLLGATE_CONSOLE_PORT',
    wholeNumber.pipe(portSchema),
    (draft, port) => (draft.listen.console_port = port),
  ),
  setting('console', 'TOLLGATE_CONSOLE', yesOrNo, (draft, wanted) => (draft.console = wanted)),
  setting('data', 'TOLLGATE_DATA', folderSchema, (draft, folder, cwd) => (draft.data = resolve(cwd, folder))),
  setting('store', 'TOLLGATE_STORE', storeUrlSchema, (draft, url) => (draft.store = url)),
  setting('hosted', 'TOLLGATE_HOSTED', yesOrNo, (draft, hosted) => (draft.hosted = hosted)),
  setting('publicUrl', 'TOLLGATE_PUBLIC_URL', publicUrlSchema, (draft, url) => (draft.public_url = url)),
  setting(
    'trustedProxies',
    'TOLLGATE_TRUSTED_PROXIES',
    list.pipe(trustedProxiesSchema),
    (draft, proxies) => (draft.trusted_proxies = proxies),
  ),
  setting(
    'allowedHosts',
    'TOLLGATE_ALLOWED_HOSTS',
    list.pipe(hostHeadersSchema),
    (draft, hosts) => (draft.allowed_hosts = hosts),
  ),
  setting('origins', 'TOLLGATE_ORIGINS', list.pipe(originsSchema), (draft, origins) => (draft.origins = origins)),
  setting('logLevel', 'TOLLGATE_LOG_LEVEL', logLevelSchema, (draft, level) => (draft.log_level = level)),
  setting('transport', 'TOLLGATE_TRANSPORT', transportSchema, (draft, transport) => (draft.transport = transport)),
  setting('workers', 'TOLLGATE_WORKERS', workersTextSchema, (draft, workers) => (draft.workers = workers)),
  setting('frameMemory', 'TOLLGATE_FRAME_MEMORY', yesOrNo, (draft, wanted) => (draft.frame_memory = wanted)),
  setting('sim', 'TOLLGATE_SIM', yesOrNo, (draft, simulated) => (draft.simulated_host = simulated)),
  setting('localHosts', 'TOLLGATE_LOCAL_HOSTS', yesOrNo, (draft, wanted) => (draft.local_hosts = wanted)),
];

/** Every TOLLGATE_* variable that the program reads. */
export const KNOWN_VARIABLES: readonly string[] = [
  ...SETTINGS.map(({ variable }) => variable),
  ...MASTER_KEY_VARIABLES,
  FILE_VARIABLE,
  CALLER_KEY_VARIABLE,
];

function applySettings(
  draft: ConfigFile,
  sources: ConfigSources,
  settingSources: Map<string, string>,
  problems: ConfigProblem[],
): void {
  for (const each of SETTINGS) {
    const given = settingText(each, sources);
    if (given === null) continue;
    settingSources.set(pathOfFlag(each.flag), given.source);
    const error = each.put(draft, given.text, sources.cwd);
    if (error !== null) problems.push(...problemsOf(error, given.source).map((problem) => ({ ...problem, path: '' })));
  }
}

/** An empty variable counts as unset, as is usual in shells. */
function settingText(each: Setting, { argvFlags, env }: ConfigSources): { text: string; source: string } | null {
  const flag = argvFlags[each.flag];
  if (flag !== undefined) return { text: String(flag), source: flagName(each.flag) };
  const text = env[each.variable];
  return text ? { text, source: each.variable } : null;
}

export function flagName(camelCase: string): string {
  return `--${camelCase.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function exposureProblems(draft: ConfigFile, placeOfSetting: PlaceOfSetting): ConfigProblem[] {
  if (draft.hosted || isLoopback(draft.listen.host)) return [];
  const message =
    `listening on ${draft.listen.host} without --hosted would let anyone who can reach it spend your money; ` +
    'add --hosted, which requires a key for every call, or listen on 127.0.0.1';
  return [{ ...placeOfSetting('listen.host'), message }];
}

function selectHosts(
  draft: ConfigFile,
  sources: ConfigSources,
  file: string,
  problems: ConfigProblem[],
): HostSelection {
  const selection = configureHosts(draft.hosts, {
    env: sources.env,
    simulated: draft.simulated_host ?? (draft.hosted ? 'without-real-hosts' : true),
    readKeys: sources.secrets !== 'leave',
    guess: draft.local_hosts && !draft.hosted ? { ownPort: draft.listen.port } : null,
  });
  problems.push(...hostProblems(draft, selection, sources, file));
  if (sources.secrets === 'leave') return selection;
  const { guessed, withoutKey, names } = selection;
  const configured = withProxies(selection.configured, draft, sources.env, problems);
  return { configured, guessed, withoutKey, names, problems: selection.problems };
}

/** Problems of the hosts, and of the models, prices and losses that go with them. */
function hostProblems(
  draft: ConfigFile,
  selection: HostSelection,
  { env, secrets }: ConfigSources,
  file: string,
): ConfigProblem[] {
  const dataFolder = draft.data ?? defaultDataFolder(env);
  const catalog = (): readonly ModelRow[] => modelsInForce(dataFolder);
  return [
    ...selection.problems.map((problem) => ({ source: problem.path === '' ? '' : file, ...problem })),
    ...strayHosts(draft, selection.names, file),
    ...repeatedModels(draft, file),
    ...ownAddressProblems(draft, selection.configured, file),
    ...lossProblems(draft, catalog, selection.configured, file),
    // Commands that make no calls work with any catalog: some of them put another one in force.
    ...(secrets === 'leave' ? [] : catalogProblems(draft, catalog, selection, file)),
  ];
}
