import { CommanderError } from 'commander';
import { CatalogError } from '../catalog/rows.ts';
import { ConfigError } from '../config/config.ts';
import { StoreRefused, StoreUnavailable } from '../ledger/ledger.ts';
import { StoreMisnamed } from '../operator/choices.ts';
import { OperatorError, type OperatorErrorCode } from '../operator/error.ts';
import { EXIT } from './exit-codes.ts';

/** A command that failed, with a message for the person who typed it. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';
  readonly exitCode: number;
  readonly hint: string | null;

  constructor(exitCode: number, message: string, hint: string | null = null) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

export function usageFailure(message: string, hint: string | null = null): CliFailure {
  return new CliFailure(EXIT.usage, message, hint);
}

export function unreachable(message: string, hint: string | null = null): CliFailure {
  return new CliFailure(EXIT.unreachable, message, hint);
}

const EXIT_OF_OPERATOR: Record<OperatorErrorCode, number> = {
  invalid_input: EXIT.usage,
  unknown_verb: EXIT.usage,
  not_found: EXIT.no,
  refused: EXIT.no,
  unavailable: EXIT.unreachable,
  moved: EXIT.moved,
  permission_denied: EXIT.no,
  version_conflict: EXIT.no,
  rate_limit_exceeded: EXIT.no,
};

/** Maps every error to one exit code and one message. The flags are those of the command. */
export function asFailure(error: unknown, flags: readonly string[] = []): CliFailure {
  if (error instanceof CliFailure) return error;
  if (error instanceof OperatorError)
    return new CliFailure(EXIT_OF_OPERATOR[error.code], messageOf(error, flags), error.hint);
  if (error instanceof ConfigError) return usageFailure(error.message, 'tollgate config check');
  if (error instanceof CatalogError) return usageFailure(error.message, 'tollgate config check');
  if (error instanceof StoreMisnamed) return usageFailure(error.message);
  if (error instanceof StoreRefused) return unreachable(error.message);
  if (error instanceof StoreUnavailable) return unreachable(error.message, 'tollgate doctor');
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CliFailure(EXIT.internal, `This is a bug in Tollgate: ${what}`);
}

/** Fields of the operator's input whose flags have other names. */
const FLAG_OF_FIELD: Readonly<Record<string, string>> = {
  balance_below_nanousd: '--balance-below',
  expires_at: '--expires',
  group_by: '--by',
  spend_cap_nanousd: '--cap',
};

/** The field that a message begins with, or any name with an underscore, which cannot be a plain word. */
const FIELD = /(?:^`?[a-z]+`?(?:\[\d+\])?|\b[a-z]+(?:_[a-z]+)+\b)(?= )/g;

/** What is wrong with the input, with the flags that were typed in place of the fields. */
function messageOf({ code, message }: OperatorError, flags: readonly string[]): string {
  if (code !== 'invalid_input') return message;
  return message.replace(FIELD, (found) => {
    const field = found.replace(/`|\[\d+\]/g, '');
    const flag = FLAG_OF_FIELD[field] ?? `--${field.replaceAll('_', '-')}`;
    return flags.includes(flag) ? flag : found;
  });
}

/** The exit code of an error from Commander, which has printed its message already; null for any other error. */
export function exitOfCommander(error: unknown): number | null {
  if (!(error instanceof CommanderError)) return null;
  // Help that was asked for succeeds; help shown instead of a missing command does not.
  return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
