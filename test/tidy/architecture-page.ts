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

/** The stages that the picture of a request's life names, from top to bottom. */
export function picturedStages(page: string): string[] {
  const picture = page.slice(page.indexOf('## The life of a request')).split('```')[1] ?? '';
  const stages = [...picture.matchAll(/(?:▶| {5,})│ (?!fsync)([a-z]+)[/ ]|├─ (hold|settle):/g)];
  return stages.map(([, stage, money]) => stage ?? money!);
}

/** The stages of a request in the order in which they happen, and the file or the call that is each of them. */
export const STAGES: Readonly<Record<string, string>> = {
  http: 'src/http/server.ts',
  wires: 'src/wires/wire.ts',
  admit: 'src/gateway/admit.ts',
  host: 'src/gateway/host-call.ts',
  hold: 'ledger.hold(',
  relay: 'src/gateway/relay/attempt.ts',
  meter: 'src/gateway/meter.ts',
  settle: 'ledger.settle(',
  observe: 'gateway.observe(',
};

/** The steps of exchange.ts that the picture shows, in the order in which the file has them. */
export const STEPS: readonly string[] = [
  'understand(gateway',
  'ledger.hold(',
  'serve(gateway',
  'ledger.settle(',
  'finishResponse(',
];

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
