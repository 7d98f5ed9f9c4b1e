import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Capability } from '../../canonical/capability.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { CatalogModel } from '../../catalog/model.ts';
import type { Config, Environment } from '../../config/config.ts';
import { homeFolder } from '../../config/home-folders.ts';
import type { CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { findGateway } from '../gateway-url.ts';
import type { Session } from '../session.ts';
import type { Places, SetupClient, SetupTerms } from '../setup/client.ts';
import { SETUP_CLIENTS } from '../setup/clients/index.ts';
import { changedLines } from '../setup/line-diff.ts';
import {
  backupOf,
  carryOut,
  dropBackup,
  type FileChange,
  keepBackup,
  planSetup,
  planUndo,
} from '../setup/settings-file.ts';
import { readVariableName } from '../text-values.ts';

const NAMES = SETUP_CLIENTS.map(({ name }) => name).join(', ');

export const setupCommand: CommandSpec = {
  name: 'setup <client>',
  summary: `write the settings of a coding agent, so that it calls this gateway: ${NAMES}`,
  options: [
    ['--model <id>', 'model that the agent uses (the default model, or the cheapest that can call tools)'],
    ['--url <url>', 'address of the gateway, if it is not on this machine'],
    ['--key-env <name>', 'environment variable that holds your key; needed if the gateway is hosted'],
    ['--dry-run', 'show the changes and write nothing'],
    ['--undo', 'put the settings back to what they were'],
  ],
  examples: [
    'tollgate setup codex --dry-run',
    'tollgate setup opencode --model claude-sonnet-4-5',
    'tollgate setup codex --undo',
  ],
  async run(session, [name = ''], options) {
    const client = SETUP_CLIENTS.find((one) => one.name === name);
    if (client === undefined)
      throw usageFailure(`There is no client "${name}". Clients: ${NAMES}.`, 'tollgate setup --help');
    const file = client.file(placesOf(session.env));
    if (options.undo === true) return undo(session, client, file, options);
    const terms = await readTerms(session, client, options);
    const change = planSetup(file, client.format, client.settings(terms));
    if (options.dryRun !== true && change.after !== change.before) {
      keepBackup(change);
      carryOut(change);
    }
    report(session, client, change, options);
    session.advise(client.advice(terms));
    return EXIT.ok;
  },
};

function undo(session: Session, client: SetupClient, file: string, options: Options): number {
  const change = planUndo(file, client.format, client.paths);
  if (options.dryRun !== true) {
    carryOut(change);
    dropBackup(file);
  }
  report(session, client, change, options);
  return EXIT.ok;
}

function report(session: Session, client: SetupClient, change: FileChange, options: Options): void {
  const lines = changedLines(change.before ?? '', change.after ?? '');
  const isDry = options.dryRun === true;
  const result = { client: client.name, file: change.file, changes: lines, written: !isDry && lines.length > 0 };
  session.show({ text: JSON.stringify(result), result }, () => [change.file, ...lines].join('\n'));
  session.advise(outcome(change, lines.length, options));
}

function outcome({ file, before }: FileChange, changes: number, { dryRun, undo: isUndo }: Options): string {
  if (changes === 0) return 'The settings are already as they should be; nothing was changed.';
  if (dryRun === true) return 'Nothing was written, because of --dry-run.';
  if (isUndo === true) return 'The settings are back to what they were.';
  return before === null
    ? 'Written. There was no such file before.'
    : `Written. ${backupOf(file)} is a copy of the file from before.`;
}

function placesOf(given: Environment): Places {
  // An empty variable would lead to a file in the current folder.
  const env = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const home = homeFolder(env);
  const configHome = env.XDG_CONFIG_HOME ?? join(home, '.config');
  return { env, home, configHome, isMac: process.platform === 'darwin', exists: existsSync };
}

async function readTerms(session: Session, client: SetupClient, options: Options): Promise<SetupTerms> {
  const config = await session.composition.lookForHosts(session.config('read'));
  const { url, needsKey } = await findGateway(session, options.url, config);
  const keyVariable = readKeyVariable(options.keyEnv, needsKey);
  const isElsewhere = options.url !== undefined;
  const model = isElsewhere
    ? readModelElsewhere(options.model)
    : chooseModel(session.composition.catalogFor(config), config, client, options.model);
  const limits =
    typeof model === 'string' ? null : { contextTokens: model.contextWindow, outputTokens: model.maxOutputTokens };
  return { baseUrl: `${url}/v1`, model: typeof model === 'string' ? model : model.id, keyVariable, limits };
}

function readKeyVariable(typed: string | boolean | undefined, isNeeded: boolean): string | null {
  if (typeof typed === 'string') return readVariableName(typed, '--key-env');
  if (!isNeeded) return null;
  throw usageFailure(
    'This gateway needs a key. Name the environment variable that holds it: --key-env TOLLGATE_API_KEY.',
  );
}

function readModelElsewhere(typed: string | boolean | undefined): string {
  if (typeof typed === 'string' && typed !== '') return typed;
  throw usageFailure('With --url, name the model too: --model ID. The models of another gateway are not known here.');
}

function chooseModel(
  catalog: Catalog,
  config: Config,
  { title, capability = 'chat' }: SetupClient,
  typed: string | boolean | undefined,
): CatalogModel {
  const wanted = typeof typed === 'string' ? typed : config.defaultModel;
  const found = wanted === null ? cheapestWithTools(catalog, config, capability) : catalog.find(wanted);
  if (found?.caps.has('chat') && found.caps.has(capability)) return found;
  throw usageFailure(`${whyNot(found, wanted, title, capability)}. Name another with --model.`, 'tollgate models');
}

function whyNot(found: CatalogModel | undefined, wanted: string | null, title: string, capability: Capability): string {
  const need = capability === 'chat' ? '' : ` and has the capability "${capability}"`;
  if (wanted === null) return `No model that can call tools${need} is served`;
  if (!found?.caps.has('chat')) return `"${wanted}" is not a model that generates text here`;
  return `${title} cannot call "${wanted}", because this model does not have the capability "${capability}"`;
}

/** A simulated model only if there is no other. */
function cheapestWithTools(catalog: Catalog, { hosts }: Config, capability: Capability): CatalogModel | undefined {
  const simulators = hosts.filter(({ row }) => row.simulated).map(({ row }) => row.name);
  const needed: readonly Capability[] = ['chat', 'tools', capability];
  const able = catalog.list().filter(({ caps }) => needed.every((one) => caps.has(one)));
  const real = able.filter((model) => model.hosts.some(({ host }) => !simulators.includes(host)));
  return (real.length > 0 ? real : able).toSorted((a, b) => (totalRate(a) < totalRate(b) ? -1 : 1))[0];
}

function totalRate({ price }: CatalogModel): bigint {
  return price.inputNanousdPerMillion + price.outputNanousdPerMillion;
}
