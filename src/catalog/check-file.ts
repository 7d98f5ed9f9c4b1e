import { describeIssue, issuePath } from '../json/describe-issue.ts';
import { formatPath } from '../json/error.ts';
import { JsonError, parseJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { hashRowPrices } from './load.ts';
import { CatalogError, findNameClash } from './rows.ts';
import { type CatalogFile, catalogFileSchema } from './schema.ts';

/** Reads a catalog from elsewhere. The schema has no place for an address of a host, so a file cannot bring one. */
export function checkCatalogFile(text: string): CatalogFile {
  const parsed = catalogFileSchema.safeParse(parsedOrRefused(text));
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, LIMITS.configProblemsMax).map((issue) => {
      const where = formatPath(issuePath(issue));
      return issue.code === 'unrecognized_keys'
        ? `${[where, issue.keys.join(', ')].filter((part) => part !== '').join('.')} is not a known field`
        : `${where} ${describeIssue(issue)}`;
    });
    throw new CatalogError(`This is not a valid catalog: ${problems.join('; ')}.`);
  }
  const file = parsed.data;
  refuseDuplicates(file);
  if (!file.version.endsWith(`-${hashRowPrices(file.models)}`))
    throw new CatalogError(
      `The prices in the file were edited: they do not match its version ${file.version}. Set prices of your own with "prices" in the config file.`,
    );
  return file;
}

function parsedOrRefused(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) throw new CatalogError(`This is not a valid catalog: ${error.message}`);
    throw error;
  }
}

function refuseDuplicates({ models }: CatalogFile): void {
  const clash = findNameClash(models);
  if (clash !== undefined) throw new CatalogError(`This is not a valid catalog: ${clash}`);
}
