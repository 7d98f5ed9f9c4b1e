import { readFlags } from '../test/read-flags.ts';
import { loadFamilies } from './holds/families.ts';
import { writeFraming } from './holds/framing.ts';
import { longTokens } from './holds/long-tokens.ts';
import { promptKinds } from './holds/prompts.ts';
import { type Family, measureQuality, o200k, type Quality } from './holds/quality.ts';

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      prompts: { type: 'string', default: '10000' },
      chars: { type: 'string', default: '1500' },
      seed: { type: 'string', default: '1' },
      kinds: { type: 'boolean', default: false },
      framing: { type: 'boolean', default: false },
    },
  });
  if (values.framing) return writeFraming((line) => process.stdout.write(`${line}\n`));
  const families = await loadFamilies();
  const qualities = measureQuality({
    families,
    kinds: promptKinds(longTokens(2_000)),
    known: await o200k(),
    prompts: Number(values.prompts),
    chars: Number(values.chars),
    seed: Number(values.seed),
  });
  const rows = families.flatMap((family) => [false, true].map((hostile) => rowOf(family, hostile, qualities)));
  process.stdout.write(`${HEAD}\n${rows.join('\n')}\n`);
  if (values.kinds)
    process.stdout.write(
      `\n${qualities
        .filter(({ short }) => short > 0)
        .map(kindRow)
        .join('\n')}\n`,
    );
  return qualities.some(isWrong) ? 1 : 0;
}

/** A tokenizer may add one token at the beginning, which the framing of messages covers. */
const ADDED_TOKEN_WORST = 1.01;
/** No tokenizer, and no text, can exceed the bound by more. */
const ANY_WORST = 3;

/** Tokenizers without a model are printed for comparison. */
function isWrong({ family, worst }: Quality): boolean {
  return worst > (family.model === null ? ANY_WORST : ADDED_TOKEN_WORST);
}

const HEAD = 'tokenizer       factor  text     prompts   short  worst  bound/true  bytes/true  factor needed';

function rowOf(family: Family, hostile: boolean, all: readonly Quality[]): string {
  const own = all.filter((quality) => quality.family === family && quality.kind.hostile === hostile);
  const sum = (read: (quality: Quality) => number): number => own.reduce((total, one) => total + read(one), 0);
  const most = (read: (quality: Quality) => number): number => Math.max(0, ...own.map(read));
  return [
    family.name.padEnd(16),
    family.factor.toFixed(2).padStart(5),
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
  return `${family.name.padEnd(16)}${kind.name.padEnd(16)}${cells.join(', ')}`;
}

process.exitCode = await main();
