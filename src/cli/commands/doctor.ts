import { type Config, ConfigError } from '../../config/config.ts';
import { describeUnknownVariable } from '../../config/unknown-variables.ts';
import {
  checkBooks,
  checkConsole,
  checkDataFolder,
  checkDisk,
  checkHosts,
  checkMasterKey,
  checkNode,
  checkPort,
  checkWorkers,
} from '../checks.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Finding, failure, ok, warning } from '../finding.ts';
import { FINDING_COLUMNS } from '../finding-columns.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../table.ts';
import { SERVER_OPTIONS } from './serve.ts';

export const doctorCommand: CommandSpec = {
  name: 'doctor',
  summary: 'check the installation for problems; exits with 1 if something would keep Tollgate from working',
  options: [['--offline', 'do not call hosts to check their keys'], ...SERVER_OPTIONS],
  examples: ['tollgate doctor', 'tollgate doctor --data ./data --json'],
  async run(session, _args, options) {
    const findings = await examine(session, options.offline === true);
    const ok = findings.every(({ status }) => status !== 'failure');
    session.show({ text: JSON.stringify({ object: 'doctor', ok, checks: findings }), result: findings }, (rows) =>
      session.asTyped(formatTable(FINDING_COLUMNS, rows)),
    );
    for (const { check, remedy } of findings) if (remedy !== null) session.advise(`${check}: ${remedy}`);
    return ok ? EXIT.ok : EXIT.no;
  },
};

async function examine(session: Session, isOffline: boolean): Promise<Finding[]> {
  const node = checkNode(process.versions.node);
  const settings = readSettings(session);
  if (!(settings instanceof ConfigError))
    return [node, describeSettings(settings), ...(await examineWith(session, settings, isOffline))];
  const detail = settings.message.replaceAll('\n', '; ');
  return [node, failure('config', detail, 'fix it, then run "tollgate config check"')];
}

function readSettings(session: Session): Config | ConfigError {
  try {
    return session.config('read');
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

function describeSettings(config: Config): Finding {
  const detail = config.file ?? 'no config file; using defaults';
  const unread = config.unknownVariables.map(describeUnknownVariable);
  if (unread.length === 0) return ok('config', detail);
  const remedy = 'rename or unset it; docs/config.md lists the variables';
  return warning('config', [detail, ...unread].join('; '), remedy);
}

async function examineWith(session: Session, config: Config, isOffline: boolean): Promise<Finding[]> {
  const found = await session.composition.lookForHosts(config);
  const books = await checkBooks(session.composition, config, found.hosts);
  const place =
    config.store === null
      ? [checkDataFolder(config.dataFolder), checkDisk(config.dataFolder)]
      : await session.composition.examineDatabase(config.store);
  return [
    ...place,
    books.masterKey ?? checkMasterKey(config),
    ...books.findings,
    checkHosts(found),
    ...(isOffline ? [] : await session.composition.examineKeys(config.hosts)),
    await checkPort(config.listen, books.server),
    await checkConsole(config, books.server),
    await checkWorkers(config.workers),
  ];
}
