import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type Config, type Environment, loadConfig } from '../config/config.ts';
import type { Progress, VerbInput, VerbName } from '../operator/operator.ts';
import type { Composition } from './composition.ts';
import { type VerbAnswer, withOperator } from './reach-operator.ts';

/** One command being carried out: what was typed, where its words go, and how it reaches the books. */
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

  /** Only what calls hosts, or lists what they serve, needs the provider keys. */
  config(providerKeys: 'read' | 'leave'): Config {
    return loadConfig({ argvFlags: this.#flags, env: this.env, cwd: this.composition.cwd, providerKeys });
  }

  /** A path as it was typed, whoever then uses it from wherever. */
  pathOf(typed: string): string {
    return resolve(this.composition.cwd, typed);
  }

  /** Data, for whoever reads stdout. */
  print(text: string): void {
    this.composition.terminal.writeOut(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Talk, for the person at the keyboard. */
  say(text: string): void {
    this.composition.terminal.writeErr(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Runs one verb, in the server that has the books or here. */
  ask<Name extends VerbName>(name: Name, input: VerbInput<Name>, options: AskOptions = {}): Promise<VerbAnswer<Name>> {
    const config = this.config(options.providerKeys ?? 'leave');
    return withOperator(this.composition, config, { mayCreate: options.mayCreate ?? false }, (operator) =>
      operator.run(name, input, options.progress),
    );
  }

  /** The answer as it is for scripts, in words for people. */
  show<Result>(answer: { readonly text: string; readonly result: Result }, words: (result: Result) => string): void {
    const text = this.json ? answer.text : words(answer.result);
    if (text !== '') this.print(text);
  }

  /** Advice, which scripts do not need. */
  advise(text: string): void {
    if (!this.json) this.say(text);
  }
}

export interface AskOptions {
  readonly providerKeys?: 'read' | 'leave';
  readonly mayCreate?: boolean;
  readonly progress?: Progress;
}

/** What was written on the command line; commander's own defaults must not outrank variables and the file. */
function typedFlags(command: Command): Record<string, string | boolean> {
  const values = command.opts<Record<string, string | boolean>>();
  return Object.fromEntries(Object.entries(values).filter(([name]) => command.getOptionValueSource(name) === 'cli'));
}
