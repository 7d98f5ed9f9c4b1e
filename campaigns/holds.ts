import { parseArgs } from 'node:util';
import { loadCatalogFile } from '../src/catalog/load.ts';
import { LIMITS } from '../src/limits.ts';
import { loadFamilies } from './holds/families.ts';
import { longTokens } from './holds/long-tokens.ts';
import { promptKinds } from './holds/prompts.ts';
import { measureQuality, o200k, type Quality } from './holds/quality.ts';

/** The catalog's lowest factor for models of a vendor: those that the published tokenizer belongs to. */
function factorOf(vendor: string): number {
  const factors = loadCatalogFile()
    .models.filter((model) => model.vendor === vendor)
    .flatMap(({ token_factor: factor }) => (factor === undefined ? [] : [factor.factor]));
  return factors.length === 0 ? LIMITS.tokenFactorDefault : Math.min(...factors);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      prompts: { type: 'string', default: '10000' },
      chars: { type: 'string', default: '1500' },
      seed: { type: 'string', default: '1' },
      kinds: { type: 'boolean', default: false },
    },
  });
  const families = await loadFamilies(factorOf);
  const qualities = measureQuality({
    families,
    kinds: promptKinds(longTokens(2_000)),
    known: await o200k(),
    prompts: Number(values.prompts),
    chars: Number(values.chars),
    seed: Number(values.seed),
  });
  const rows = families.flatMap(({ name, factor }) =>
    [false, true].map((hostile) => rowOf(name, factor, hostile, qualities)),
  );
  process.stdout.write(`${HEAD}\n${rows.join('\n')}\n`);
  if (values.kinds)
    process.stdout.write(
      `\n${qualities
        .filter(({ short }) => short > 0)
        .map(kindRow)
        .join('\n')}\n`,
    );
  return qualities.some(({ kind, worst }) => worst > (kind.hostile ? 3 : USUAL_WORST)) ? 1 : 0;
}

/** Usual text may exceed its bound by so much before the factor of its family is wrong. */
const USUAL_WORST = 1.1;

const HEAD = 'tokenizer       factor  text     prompts   short  worst  bound/true  bytes/true  factor needed';

function rowOf(family: string, factor: number, hostile: boolean, all: readonly Quality[]): string {
  const own = all.filter((quality) => quality.family === family && quality.kind.hostile === hostile);
  const sum = (read: (quality: Quality) => number): number => own.reduce((total, one) => total + read(one), 0);
  const most = (read: (quality: Quality) => number): number => Math.max(0, ...own.map(read));
  return [
    family.padEnd(16),
    factor.toFixed(2).padStart(5),
    `  ${hostile ? 'hostile' : 'usual  '}`,
    String(sum((one) => one.prompts)).padStart(9),
    String(sum((one) => one.short)).padStart(8),
    most((one) => one.worst)
      .toFixed(2)
      .padStart(7),
    (sum((one) => one.bound) / sum((one) => one.tokens)).toFixed(2).padStart(12),
    (sum((one) => one.bytes) / sum((one) => one.tokens)).toFixed(2).padStart(12),
    most((one) => one.needed)
      .toFixed(2)
      .padStart(15),
  ].join('');
}

function kindRow({ family, kind, prompts, short, worst, needed }: Quality): string {
  const cells = [`${short} of ${prompts} short`, `worst ${worst.toFixed(2)}`, `factor needed ${needed.toFixed(2)}`];
  return `${family.padEnd(16)}${kind.name.padEnd(16)}${cells.join(', ')}`;
}

process.exitCode = await main();
