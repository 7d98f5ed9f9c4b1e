import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { checkCatalogFile } from '../../catalog/check-file.ts';
import { compareCatalogs, type ModelChange, type RateChange } from '../../catalog/compare.ts';
import { installedCatalogPath, loadCatalogInForce } from '../../catalog/installed.ts';
import { CatalogError } from '../../catalog/rows.ts';
import type { CatalogFile } from '../../catalog/schema.ts';
import { removeFile, replaceFile } from '../../kit/replace-file.ts';
import { LIMITS } from '../../limits.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, usageFailure } from '../failure.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';

const PROOF_OPTIONS = [
  ['--sha256 <hex>', 'the SHA-256 that the file must have; required for a URL without a signature'],
  ['--signature <file>', 'an Ed25519 signature of the file, as raw bytes or base64'],
  ['--public-key <file>', 'the PEM file with the public key of that signature'],
] as const;

const showCommand: CommandSpec = {
  name: 'show',
  summary: 'show which catalog of models and prices is in use',
  examples: ['tollgate catalog show'],
  async run(session) {
    const { file, origin, outdated } = loadCatalogInForce(session.config('leave').dataFolder);
    const view = { version: file.version, generated: file.generated, origin, models: file.models.length, outdated };
    session.show({ text: JSON.stringify(view), result: view }, () =>
      formatRecord([
        ['version', file.version],
        ['generated', file.generated],
        ['origin', origin],
        ['models', String(file.models.length)],
        ...(outdated === null ? [] : [['not used', `${outdated}, which is older`] as const]),
      ]),
    );
    return EXIT.ok;
  },
};

const checkCommand: CommandSpec = {
  name: 'check <file-or-url>',
  summary: 'compare a catalog with the one in use and change nothing; exits with 1 if they differ',
  options: PROOF_OPTIONS,
  examples: ['tollgate catalog check ./catalog.json'],
  async run(session, [source = ''], options) {
    const { changes } = await readUpdate(session, source, options);
    return changes.length === 0 ? EXIT.ok : EXIT.no;
  },
};

const updateCommand: CommandSpec = {
  name: 'update <file-or-url>',
  summary: 'use this catalog from the next start or reload on',
  options: [...PROOF_OPTIONS, ['--confirm <version>', 'install it although it has changes that must be confirmed']],
  examples: [
    'tollgate catalog update ./catalog.json',
    'tollgate catalog update https://prices.example/catalog.json --sha256 9f86d081…',
  ],
  async run(session, [source = ''], options) {
    const { file, changes } = await readUpdate(session, source, options);
    if (changes.length === 0) {
      session.advise('This catalog is the same as the one in use. Nothing was changed.');
      return EXIT.ok;
    }
    refuseUnconfirmed(file, changes, options);
    const { dataFolder } = session.config('leave');
    refuseDate(file, loadCatalogInForce(dataFolder).file, session.composition.clock.nowMs());
    changing(installedCatalogPath(dataFolder), (path) => replaceFile(path, `${JSON.stringify(file)}\n`));
    session.advise(`Installed ${file.version}. A running server starts using it on SIGHUP.`);
    return EXIT.ok;
  },
};

const resetCommand: CommandSpec = {
  name: 'reset',
  summary: 'use the built-in catalog again',
  examples: ['tollgate catalog reset'],
  async run(session) {
    const { dataFolder } = session.config('leave');
    const isThere = changing(installedCatalogPath(dataFolder), removeFile);
    const view = { removed: isThere };
    session.show({ text: JSON.stringify(view), result: view }, () => '');
    session.advise(
      isThere
        ? 'The built-in catalog is used again. A running server starts using it on SIGHUP.'
        : 'No other catalog was installed.',
    );
    return EXIT.ok;
  },
};

export const catalogCommands: CommandGroup = {
  name: 'catalog',
  summary: 'show, compare and replace the catalog of models and prices',
  commands: [showCommand, checkCommand, updateCommand, resetCommand],
};

interface Update {
  readonly file: CatalogFile;
  readonly changes: readonly ModelChange[];
}

/** Reads a catalog, checks where it came from and what it says, and prints what it changes. */
async function readUpdate(session: Session, source: string, options: Options): Promise<Update> {
  const bytes = await readSource(session, source, options);
  refuseWrongProof(session, bytes, options);
  const file = checkedFile(bytes);
  const before = loadCatalogInForce(session.config('leave').dataFolder).file;
  const changes = compareCatalogs(before, file);
  const view = { before: before.version, after: file.version, changes };
  session.show({ text: JSON.stringify(view), result: view }, () => describeChanges(before, file, changes));
  return { file, changes };
}

async function readSource(session: Session, source: string, options: Options): Promise<Buffer> {
  const url = /^https?:/i.test(source) ? URL.parse(source) : null;
  if (url === null) return readLocal(session, source);
  if (options.sha256 === undefined && options.signature === undefined)
    throw usageFailure('A catalog from a URL needs --sha256, or --signature with --public-key.');
  const downloaded = await session.composition.download(url);
  if ('refused' in downloaded)
    throw new CliFailure(EXIT.no, `Cannot read ${url.origin}${url.pathname}: ${downloaded.refused}`);
  return downloaded;
}

function readLocal(session: Session, path: string): Buffer {
  try {
    return readFileSync(session.pathOf(path));
  } catch (error) {
    throw usageFailure(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function refuseWrongProof(session: Session, bytes: Buffer, { sha256, signature, publicKey }: Options): void {
  if (typeof sha256 === 'string' && createHash('sha256').update(bytes).digest('hex') !== sha256.toLowerCase())
    throw new CliFailure(EXIT.no, 'The file does not have the SHA-256 given with --sha256. Nothing was changed.');
  if ((signature === undefined) !== (publicKey === undefined))
    throw usageFailure('--signature and --public-key are needed together.');
  if (typeof signature !== 'string' || typeof publicKey !== 'string') return;
  if (!isSigned(bytes, readLocal(session, signature), readLocal(session, publicKey)))
    throw new CliFailure(EXIT.no, 'The signature does not match the file and the public key. Nothing was changed.');
}

function isSigned(bytes: Buffer, signature: Buffer, publicKey: Buffer): boolean {
  const raw = signature.length === ED25519_BYTES ? signature : Buffer.from(signature.toString('latin1'), 'base64');
  try {
    const key = createPublicKey(publicKey);
    return key.asymmetricKeyType === 'ed25519' && verify(null, bytes, key, raw);
  } catch {
    return false;
  }
}

const ED25519_BYTES = 64;
const DAY_MS = 24 * 60 * 60 * 1000;

function checkedFile(bytes: Buffer): CatalogFile {
  if (bytes.length > LIMITS.catalogBytesMax)
    throw new CliFailure(EXIT.no, `The file is larger than ${LIMITS.catalogBytesMax} bytes.`);
  try {
    return checkCatalogFile(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof CatalogError) throw new CliFailure(EXIT.no, `${error.message} Nothing was changed.`);
    throw error;
  }
}

/** The data folder may belong to another user, or its disk may be full. */
function changing<Result>(path: string, change: (path: string) => Result): Result {
  try {
    return change(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const remedy = 'check the disk, and run this command as the owner of the data folder';
    throw new CliFailure(EXIT.unreachable, `Cannot change ${path} (${code}).`, remedy);
  }
}

function refuseUnconfirmed({ version }: CatalogFile, changes: readonly ModelChange[], { confirm }: Options): void {
  const risks = changes.flatMap(({ id, risks: reasons }) => reasons.map((reason) => `${id}: ${reason}`));
  if (risks.length === 0 || confirm === version) return;
  const shown = risks.slice(0, LIMITS.configProblemsMax);
  const more = risks.length > shown.length ? `\n  and ${risks.length - shown.length} more` : '';
  throw new CliFailure(
    EXIT.no,
    `These changes must be confirmed:\n  ${shown.join('\n  ')}${more}\nNothing was changed.`,
    `if you want them, add --confirm ${version}`,
  );
}

/** An older file would be installed but not used; one from the future would block every later one. */
function refuseDate({ generated, version }: CatalogFile, inForce: CatalogFile, nowMs: number): void {
  if (Date.parse(generated) > nowMs + DAY_MS)
    throw new CliFailure(EXIT.no, `${version} is from the future (${generated}). Nothing was changed.`);
  if (generated >= inForce.generated) return;
  throw new CliFailure(EXIT.no, `${version} is older than ${inForce.version}, which is in use. Nothing was changed.`);
}

function describeChanges(before: CatalogFile, after: CatalogFile, changes: readonly ModelChange[]): string {
  if (changes.length === 0) return `${before.version} has the same models and prices as ${after.version}\n`;
  const rows = changes.flatMap((change): Row[] =>
    change.rates.length === 0 || change.kind === 'removed'
      ? [{ change, rate: null }]
      : change.rates.map((rate) => ({ change, rate })),
  );
  const columns = [
    { title: 'model', text: ({ change }: Row) => change.id },
    { title: 'change', text: ({ change }: Row) => describeKind(change) },
    { title: 'rate', text: ({ rate }: Row) => rate?.rate ?? '' },
    { title: 'before', align: 'right', text: ({ rate }: Row) => usd(rate?.rate, rate?.before) },
    { title: 'after', align: 'right', text: ({ rate }: Row) => usd(rate?.rate, rate?.after) },
  ] as const;
  return `${before.version} -> ${after.version}, USD per million tokens\n${formatTable(columns, rows)}`;
}

interface Row {
  readonly change: ModelChange;
  readonly rate: RateChange | null;
}

function describeKind({ kind, fields }: ModelChange): string {
  return fields.length === 0 ? kind : `${kind} (${fields.join(', ')})`;
}

function usd(rate: string | undefined, nanousd: number | null | undefined): string {
  if (nanousd === null || nanousd === undefined) return '';
  return rate?.endsWith('above_input_tokens') === true ? String(nanousd) : String(nanousd / 1e9);
}
