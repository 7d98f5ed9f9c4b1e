import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Config, type Environment, loadConfig } from '../config/config.ts';
import { shellWord } from '../kit/shell-words.ts';
import type { Progress, VerbInput, VerbName } from '../operator/operator.ts';
import type { Composition } from './composition.ts';
import { type VerbAnswer, withOperator } from './reach-operator.ts';

/** A command in a message: at its start, in quotes, or after a colon, up to the quote, the bracket or the line's end. */
const COMMAND = /(^|"|: )tollgate ([^"\n)]+)/gm;

/** One command as it runs: its flags, its output, and its access to the ledger. */
export class Session {
  readonly composition: Composition;
  readonly env: Environment;
  readonly json: boolean;
  readonly #flags: Readonly<Record<string, string | boolean>>;

  constructor(composition: Composition, env: Environment, command: Command) {
    this.composition = composition;
    this.env = env;
    this.#flags = typedFlags(command);
    this.json = this.#flags.json === true;
  }

  /** Keys and secrets are read only by commands that call hosts or list their models. */
  config(secrets: 'read' | 'leave'): Config {
    return loadConfig({ argvFlags: this.#flags, env: this.env, cwd: this.composition.cwd, secrets });
  }

  /** A path resolved against the folder in which it was typed. */
  pathOf(typed: string): string {
    return resolve(this.composition.cwd, typed);
  }

  /** Writes data to stdout. */
  print(text: string): void {
    this.composition.terminal.writeOut(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Writes a message to stderr, with commands as the user would type them. */
  say(text: string): void {
    const typed = this.asTyped(text);
    this.composition.terminal.writeErr(typed.endsWith('\n') ? typed : `${typed}\n`);
  }

  /** Replaces commands in a text, like `tollgate keys list`, by what the user would type to run them on the same data. */
  asTyped(text: string): string {
    const { program } = this.composition;
    return text.replace(COMMAND, (_, before: string, words: string) => `${before}${program} ${words}${this.#place()}`);
  }

  /** The flags that name data and config, as they were typed. A database's URL may contain a password. */
  #place(): string {
    const { data, config, store } = this.#flags;
    const given = [
      typeof data === 'string' ? ` --data ${shellWord(data)}` : '',
      typeof store === 'string' ? ' --store URL' : '',
      typeof config === 'string' ? ` --config ${shellWord(config)}` : '',
    ];
    return given.join('');
  }

  /** Runs one verb, in the running server or in this process. */
  ask<Name extends VerbName>(name: Name, input: VerbInput<Name>, options: AskOptions = {}): Promise<VerbAnswer<Name>> {
    const config = this.config(options.secrets ?? 'leave');
    return withOperator(this.composition, config, { mayCreate: options.mayCreate ?? false }, (operator) =>
      operator.run(name, input, options.progress),
    );
  }

  /** Prints the answer: as JSON for scripts, or in words. */
  show<Result>(answer: { readonly text: string; readonly result: Result }, words: (result: Result) => string): void {
    const text = this.json ? answer.text : words(answer.result);
    if (text !== '') this.print(text);
  }

  /** Writes a hint to stderr, but not with --json. */
  advise(text: string): void {
    if (!this.json) this.say(text);
  }
}

interface AskOptions {
  readonly secrets?: 'read' | 'leave';
  readonly mayCreate?: boolean;
  readonly progress?: Progress;
}

/** Only flags that were typed: Commander's defaults must not override variables and the file. */
function typedFlags(command: Command): Record<string, string | boolean> {
  const values = command.opts<Record<string, string | boolean>>();
  return Object.fromEntries(Object.entries(values).filter(([name]) => command.getOptionValueSource(name) === 'cli'));
}
