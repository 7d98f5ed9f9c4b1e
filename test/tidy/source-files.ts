import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Comment,
  type EcmaScriptModule,
  type ParserOptions,
  type Program,
  parseSync,
  rawTransferSupported,
} from 'oxc-parser';
import { pathsUnder, ROOT } from './paths.ts';

/** A TypeScript file, parsed when its tree is first needed. */
export interface SourceFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly program: Program;
  readonly comments: readonly Comment[];
  /** Its imports and exports, which are known without reading the tree. */
  readonly module: EcmaScriptModule;
  /** Lets go of the tree: those of all files are 300 MB, which would stay in memory during all later tests of the process. */
  forget(): void;
}

/** Without JSON between the parser and us, where the platform allows it, which takes half of the time. */
const HOW = { experimentalRawTransfer: rawTransferSupported() } as ParserOptions;

export function sourceFile(path: string, text: string): SourceFile {
  let parsed: ReturnType<typeof parseSync> | null = null;
  const parse = () => {
    parsed ??= parseSync(path, text, HOW);
    if (parsed.errors.length > 0) throw new Error(`${path} cannot be parsed: ${parsed.errors[0]!.message}`);
    return parsed;
  };
  return {
    path,
    text,
    get program() {
      return parse().program;
    },
    get comments() {
      return parse().comments;
    },
    get module() {
      return parse().module;
    },
    forget: () => {
      parsed = null;
    },
  };
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function filesUnder(folder: string): SourceFile[] {
  return pathsUnder(folder)
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('node_modules/'))
    .map((path) => sourceFile(path, readText(path)));
}

const SOURCES = filesUnder('src');

/** What is shipped: src/ without its tests. */
export const PRODUCT: readonly SourceFile[] = SOURCES.filter(({ path }) => !path.endsWith('.test.ts'));

/** The web page: console/src without its tests, and without what is written from the schemas of the management API. */
export const CONSOLE: readonly SourceFile[] = filesUnder('console/src').filter(
  ({ path }) => !path.startsWith('console/src/api/generated/'),
);

/** The published packages without what is built or installed there. */
const IN_PACKAGES = filesUnder('packages').filter(({ path }) => !/\/(dist|node_modules)\//.test(path));

/** What is shipped of the published packages. */
export const PACKAGES: readonly SourceFile[] = IN_PACKAGES.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path));

/** Every TypeScript file of the repository. */
export const ALL: readonly SourceFile[] = [
  ...SOURCES,
  ...CONSOLE,
  ...filesUnder('console/test'),
  ...IN_PACKAGES,
  ...['test', 'bench', 'campaigns', 'scripts'].flatMap(filesUnder),
];

export function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

export function lineAt({ text }: SourceFile, offset: number): number {
  return linesOf(text.slice(0, offset));
}
