import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingFiles, picturedStages, STAGES, STEPS, unnamedFolders, withLayerTable } from './architecture-page.ts';
import { circlesIn, type Imports, importsOf } from './imports.ts';
import { LAYERS, layerOf, refusalOfImport } from './layers.ts';
import { pathsUnder, ROOT } from './paths.ts';
import { CONSOLE, PRODUCT, readText } from './source-files.ts';

const PATHS = PRODUCT.map(({ path }) => path);
const IMPORTS: ReadonlyMap<string, Imports> = new Map(PRODUCT.map((file) => [file.path, importsOf(file, PATHS)]));

function sourcesImportedBy(path: string): string[] {
  return (IMPORTS.get(path)?.files ?? []).filter((target) => target.startsWith('src/'));
}

describe('imports', () => {
  test('every import is allowed by the table of layers', () => {
    const wrong = PATHS.flatMap((path) =>
      sourcesImportedBy(path).flatMap((target) => {
        const refusal = refusalOfImport(path, target);
        return refusal === null ? [] : [`${path} imports ${target}: ${refusal}`];
      }),
    );
    expect(wrong, 'Move the code down, or pass the thing in from main.').toEqual([]);
  });

  test('every import names a file that exists, so that a reader can tell which', () => {
    const wrong = PATHS.flatMap((path) => IMPORTS.get(path)!.unreadable.map((line) => `${path}:${line}`));
    expect(wrong, 'Write the file as a literal.').toEqual([]);
    const missing = PATHS.flatMap((path) => sourcesImportedBy(path).filter((target) => !PATHS.includes(target)));
    expect(missing).toEqual([]);
  });

  test('no imports run in a circle, types included', () => {
    const graph = new Map(PATHS.map((path) => [path, sourcesImportedBy(path)]));
    const circles = circlesIn(graph).map((circle) => [...circle, circle[0]].join(' -> '));
    expect(circles, 'Give what both sides need a file of its own.').toEqual([]);
  });

  test('the console knows the gateway only by its API', () => {
    const outside = CONSOLE.flatMap((file) =>
      importsOf(file, PATHS).files.flatMap((target) =>
        target.startsWith('console/src/') ? [] : [`${file.path} imports ${target}`],
      ),
    );
    expect(outside, 'Read it from the management API; its types are in console/src/api/generated.').toEqual([]);
  });

  /** Threads are started by the name of their file, which is in a variable. */
  const THREADS = ['src/store/sqlite/backup-worker.ts', 'src/store/sqlite/scanner.ts', 'src/store/sqlite/writer.ts'];
  /** The engine that tests compare the others with. */
  const TESTS_ONLY = ['src/store/memory/memory-store.ts'];

  test('every source file is reached from an entry', () => {
    const reached = reachedFrom(['src/main/main.ts']);
    const unneeded = [...THREADS, ...TESTS_ONLY].filter((path) => reached.has(path) || !PATHS.includes(path));
    expect(unneeded, 'Take the file off its list: it is reached without it, or gone.').toEqual([]);
    for (const path of reachedFrom([...THREADS, ...TESTS_ONLY])) reached.add(path);
    const dead = PATHS.filter((path) => !reached.has(path));
    expect(dead, 'Nothing uses these files: delete them.').toEqual([]);
  });
});

function reachedFrom(entries: readonly string[]): Set<string> {
  const reached = new Set(entries);
  for (const path of reached) for (const target of sourcesImportedBy(path)) reached.add(target);
  return reached;
}

describe('the table of layers', () => {
  test('has a row for every folder of src/, and no row for a folder that is gone', () => {
    const layers = new Set(PATHS.map(layerOf));
    const rows = LAYERS.filter(({ planned }) => planned !== true).map(({ name }) => name);
    expect(rows.toSorted(), 'Add or remove a row, then run `npm run docs:architecture`.').toEqual(
      [...layers].toSorted(),
    );
  });

  test('calls no folder planned that is there', () => {
    const there = LAYERS.filter(({ name, planned }) => planned === true && existsSync(join(ROOT, 'src', name)));
    expect(
      there.map(({ name }) => name),
      'Take `planned` off the row, then run `npm run docs:architecture`.',
    ).toEqual([]);
  });

  test('lets every layer import only what stands below it', () => {
    const upward = LAYERS.flatMap(({ name, mayImport }, at) => {
      const below = LAYERS.slice(at + 1).map((layer) => layer.name);
      const named = mayImport === 'everything' ? [] : mayImport;
      return named
        .filter((other) => !below.includes(other.endsWith('.ts') ? layerOf(`src/${other}`) : other))
        .map((other) => `${name} -> ${other}`);
    });
    expect(upward, 'Move the row, or do not allow the import.').toEqual([]);
  });

  test('allows no single file that nobody of the layer imports', () => {
    const unneeded = LAYERS.flatMap(({ name, mayImport }) => {
      const files = mayImport === 'everything' ? [] : mayImport.filter((other) => other.endsWith('.ts'));
      const own = PATHS.filter((path) => layerOf(path) === name);
      return files.filter((file) => !own.some((path) => sourcesImportedBy(path).includes(`src/${file}`)));
    });
    expect(unneeded, 'Take the file off the row.').toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  const page = readText('ARCHITECTURE.md');
  const known = ['src', 'docs', 'test', 'bench', 'campaigns', 'scripts', 'deploy', 'public', 'packages'].flatMap(
    (folder) => [folder, ...pathsUnder(folder)],
  );

  test('has the table of layers that the tests hold', () => {
    expect(withLayerTable(page) === page, 'Run `npm run docs:architecture`.').toBe(true);
  });

  test("draws a request's life with the stages that the code has, in its order", () => {
    expect(picturedStages(page), 'Draw the stages as they happen.').toEqual(Object.keys(STAGES));
    const exchange = readText('src/gateway/exchange.ts');
    const gone = Object.values(STAGES).filter((stage) => !known.includes(stage) && !exchange.includes(stage));
    expect(gone, 'The picture shows a stage that the code has not.').toEqual([]);
    const places = STEPS.map((step) => exchange.indexOf(step));
    expect(places, 'exchange.ts reads from top to bottom, as the picture does.').toEqual(
      places.toSorted((a, b) => a - b),
    );
    expect(places).not.toContain(-1);
  });

  test('names only files that exist', () => {
    expect(missingFiles(page, known), 'Write the name the file has now.').toEqual([]);
  });

  test('says of every folder of src/ what is found in it', () => {
    expect(unnamedFolders(page, known), 'Add a row to "Where to find what".').toEqual([]);
  });
});
