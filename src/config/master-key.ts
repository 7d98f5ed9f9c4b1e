import { dirname, join, resolve } from 'node:path';
import type { MasterKeySource } from '../custody/master-keys.ts';
import type { Environment } from '../hosts/read-key.ts';
import { Secret } from '../kit/secret.ts';
import type { ConfigProblem } from './problems.ts';

const OWN_FILE_NAME = 'master.key';
const VARIABLE = 'TOLLGATE_MASTER_KEY';
const FILE_VARIABLE = 'TOLLGATE_MASTER_KEY_FILE';
const COMMAND_VARIABLE = 'TOLLGATE_MASTER_KEY_COMMAND';
export const MASTER_KEY_VARIABLES = [VARIABLE, FILE_VARIABLE, COMMAND_VARIABLE] as const;

interface MasterKeyTerms {
  readonly env: Environment;
  readonly cwd: string;
  /** The config file's path and the fields that name a source; the file never contains the key itself. */
  readonly file: string | null;
  readonly fields: { readonly master_key_file?: string | undefined; readonly master_key_command?: string | undefined };
  readonly hosted: boolean;
  readonly dataFolder: string;
}

/** A variable, a file or a command; variables override the config file. Without any, local mode uses its own file. */
export function selectMasterKey(terms: MasterKeyTerms, problems: ConfigProblem[]): MasterKeySource {
  const { hosted, dataFolder } = terms;
  const variables = fromVariables(terms);
  const given = variables.length > 0 ? variables : fromFields(terms);
  if (given.length > 1) {
    const message = `${given.map(({ source }) => source).join(' and ')} are both set; unset all but one`;
    problems.push({ source: '', path: '', message });
  }
  if (given[0] !== undefined) return given[0];
  if (hosted) return { kind: 'none', source: `${VARIABLE}, ${FILE_VARIABLE} or ${COMMAND_VARIABLE}` };
  return ownKeyFile(dataFolder);
}

/** The gateway's own file, in local mode. */
export function ownKeyFile(dataFolder: string): MasterKeySource {
  const path = join(dataFolder, OWN_FILE_NAME);
  return { kind: 'own-file', path, source: path };
}

/** An empty variable counts as unset, as is usual in shells. */
function fromVariables({ env, cwd }: MasterKeyTerms): MasterKeySource[] {
  const given: MasterKeySource[] = [];
  const { [VARIABLE]: text, [FILE_VARIABLE]: path, [COMMAND_VARIABLE]: command } = env;
  if (text) given.push({ kind: 'text', text: new Secret(text), source: VARIABLE });
  if (path) given.push({ kind: 'file', path: resolve(cwd, path), source: FILE_VARIABLE });
  if (command) given.push({ kind: 'command', command, source: COMMAND_VARIABLE });
  return given;
}

function fromFields({ file, fields }: MasterKeyTerms): MasterKeySource[] {
  const given: MasterKeySource[] = [];
  const { master_key_file: path, master_key_command: command } = fields;
  if (path) given.push({ kind: 'file', path: resolve(dirname(file ?? ''), path), source: 'master_key_file' });
  if (command) given.push({ kind: 'command', command, source: 'master_key_command' });
  return given;
}
