import { LAYERS, type Layer } from './layers.ts';

const BEGIN = '<!-- layers: written by `npm run docs:architecture` from test/tidy/layers.ts -->';
const END = '<!-- end of layers -->';

/** The page with the table of layers written between its two marks. */
export function withLayerTable(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`ARCHITECTURE.md needs the lines "${BEGIN}" and "${END}".`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${layerTable()}\n${page.slice(end)}`;
}

function layerTable(): string {
  const there = LAYERS.filter(({ planned }) => planned !== true);
  const rows = there.map((layer) => `| \`${layer.name}\` | ${importsOf(layer, there)} | ${layer.about} |\n`);
  return `| layer | may import | what it is |\n|---|---|---|\n${rows.join('')}`;
}

function importsOf({ mayImport }: Layer, there: readonly Layer[]): string {
  if (mayImport === 'everything') return 'everything';
  const names = mayImport.filter((name) => name.endsWith('.ts') || there.some((layer) => layer.name === name));
  return names.map((name) => `\`${name}\``).join(', ') || 'nothing';
}

/** Everything on the page that is written as code: between backticks outside of pictures. */
function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
}

/**
 * What the page names as files, and what is missing of that among `known` paths. A name without a folder is looked for
 * beside the paths of its row, and then everywhere.
 */
export function missingFiles(page: string, known: readonly string[]): string[] {
  const withoutTable = page.slice(0, page.indexOf(BEGIN)) + page.slice(page.indexOf(END));
  const exists = existsAmong(known);
  return withoutTable.split('\n').flatMap((line) => {
    const names = codeIn(line);
    const folders = names.filter((name) => name.includes('/')).map((name) => name.replace(/[^/]*$/, ''));
    const isFolderRow = line.startsWith('| `') && names[0]!.endsWith('/');
    return names
      .filter((name) => looksLikeFile(name) || (isFolderRow && /^[a-z][a-z-]*$/.test(name)))
      .filter((name) => !exists(name) && !folders.some((folder) => exists(folder + name)))
      .filter((name) => !folders.some((folder) => exists(`${folder}${name}.ts`)));
  });
}

function looksLikeFile(name: string): boolean {
  return !name.includes(' ') && (/\.(ts|md|json|js)$/.test(name) || /^[a-z][\w.-]*\/[\w./*-]*$/.test(name));
}

function existsAmong(known: readonly string[]): (name: string) => boolean {
  const paths = new Set(known);
  return (name) => {
    const path = name.replace(/\/$/, '');
    if (paths.has(path) || paths.has(`src/${path}`)) return true;
    if (!path.includes('*')) return !path.includes('/') && known.some((one) => one.endsWith(`/${path}`));
    const pattern = new RegExp(`^(src/)?${path.replace(/[.]/g, '\\.').replaceAll('*', '[^/]*')}$`);
    return known.some((one) => pattern.test(one));
  };
}

/** Folders directly in src/ that the page never names. */
export function unnamedFolders(page: string, known: readonly string[]): string[] {
  const afterTable = page.slice(page.indexOf(END));
  const folders = new Set(known.map((path) => /^src\/[^/]+(?=\/)/.exec(path)?.[0] ?? '').filter((path) => path !== ''));
  return [...folders].filter((folder) => !codeIn(afterTable).some((name) => name.startsWith(`${folder}/`)));
}
