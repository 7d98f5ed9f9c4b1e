import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../test/random.ts';
import { STORIES } from './languages.ts';

/** What a prompt is made of. Hostile kinds are chosen to have more tokens than their bound. */
export interface PromptKind {
  readonly name: string;
  readonly hostile: boolean;
  write(random: Random, chars: number): string;
}

const ROOT = new URL('../../', import.meta.url).pathname;

/** Characters whose NFKC form is longer than they are. */
const EXPANDERS = [
  '\ufdfa',
  '\ufdfb',
  '\u3316',
  '\u3300',
  '\u33ff',
  '\u2a74',
  '\u00bc',
  '\u1e9b',
  '\u3250',
  '\u{1f240}',
  '\ufb03',
];

/** `longTokens`: the longest tokens of the tokenizer that prompts are counted with. */
export function promptKinds(longTokens: readonly string[]): PromptKind[] {
  const code = filesIn('src', '.ts');
  const pages = filesIn('docs', '.md');
  const json = [
    readFileSync(join(ROOT, 'tollgate.config.schema.json'), 'utf8'),
    readFileSync(join(ROOT, 'data/catalog.json'), 'utf8'),
  ];
  const usual = (name: string, write: PromptKind['write']): PromptKind => ({ name, hostile: false, write });
  const hostile = (name: string, write: PromptKind['write']): PromptKind => ({ name, hostile: true, write });
  return [
    ...Object.entries(STORIES).map(([language, { tag, story }]) => {
      const words = wordsIn(tag);
      return usual(language, (random, chars) => repeated(() => `${story} ${listOf(random, words)}\n`, chars));
    }),
    usual('code', (random, chars) => excerpt(random, code, chars)),
    usual('pages', (random, chars) => excerpt(random, pages, chars)),
    usual('JSON', (random, chars) => excerpt(random, json, chars)),
    usual('base64', (random, chars) => randomBytes(random, chars).toString('base64').slice(0, chars)),
    usual('hexadecimal', (random, chars) => randomBytes(random, chars).toString('hex').slice(0, chars)),
    hostile('long tokens', (random, chars) => repeated(() => random.pick(longTokens), chars)),
    hostile('NFKC', (random, chars) => repeated(() => random.pick(EXPANDERS), chars)),
    hostile('digits', (random, chars) => repeated(() => String(random.below(10)), chars)),
    hostile('random ASCII', (random, chars) => repeated(() => String.fromCharCode(random.between(32, 126)), chars)),
    hostile('random capitals', (random, chars) => repeated(() => String.fromCharCode(random.between(65, 90)), chars)),
  ];
}

/** The longest of these tokens that are ASCII words, which other tokenizers rarely have as one token. */
export function longestAscii(tokens: Iterable<string>, count: number): string[] {
  const ascii = [...tokens].filter((token) => /^[\x20-\x7e]+$/.test(token));
  return ascii.toSorted((one, other) => other.length - one.length).slice(0, count);
}

const REGIONS = 'DE FR ES PT IT PL CZ TR VN ID RU UA GR IL EG IN TH CN JP KR US GB BR MX NG ZA AU NZ CA SE'.split(' ');
const CURRENCIES = 'USD EUR GBP JPY CNY INR BRL MXN ZAR SEK PLN CZK TRY KRW THB VND'.split(' ');
const LANGUAGES = 'de fr es pt it pl cs tr vi id ru uk el he ar hi th zh ja ko sw fi hu nl is mt'.split(' ');

/** Names of countries, currencies, languages, months and days, as the language writes them. */
function wordsIn(tag: string): string[] {
  const names = (type: 'region' | 'currency' | 'language', codes: readonly string[]) => {
    const display = new Intl.DisplayNames(tag, { type });
    return codes.map((code) => display.of(code) ?? code);
  };
  const date = new Intl.DateTimeFormat(tag, { dateStyle: 'full', timeStyle: 'long', timeZone: 'UTC' });
  const dates = Array.from({ length: 24 }, (_, at) => date.format(new Date(Date.UTC(2026, at, at + 1, at))));
  return [...names('region', REGIONS), ...names('currency', CURRENCIES), ...names('language', LANGUAGES), ...dates];
}

function listOf(random: Random, words: readonly string[]): string {
  return Array.from({ length: 12 }, () => random.pick(words)).join(', ');
}

function filesIn(folder: string, ending: string): string[] {
  const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'));
}

function excerpt(random: Random, texts: readonly string[], chars: number): string {
  const text = random.pick(texts);
  const start = random.below(Math.max(1, text.length - chars));
  return text.slice(start, start + chars);
}

function repeated(part: () => string, chars: number): string {
  let text = '';
  while (text.length < chars) text += part();
  return text;
}

function randomBytes(random: Random, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => random.below(256)));
}
