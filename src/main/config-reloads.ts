import { ConfigError, describeProblem } from '../config/config.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Settings } from './workers/messages.ts';

export interface ConfigReloadTerms {
  /** Reads the config file and the environment, and looks for local hosts. */
  read(): Promise<Settings>;
  use(settings: Settings): Promise<void>;
  /** Changed settings that only a restart uses. */
  changesForRestart(settings: Settings): readonly string[];
  /** What is logged about the settings in effect. */
  describe(): Record<string, unknown>;
  audit(before: object, after: object): Promise<void>;
  readonly log: Log;
}

/**
 * Reloads the config, once for each signal. The next reload begins when the last one has ended: otherwise an older config,
 * whose local hosts answer late, could replace a newer one.
 */
export class ConfigReloads {
  readonly #terms: ConfigReloadTerms;
  #last: Promise<void> = Promise.resolve();

  constructor(terms: ConfigReloadTerms) {
    this.#terms = terms;
  }

  /** An invalid config is logged, and the old one stays in effect. */
  reload(): Promise<void> {
    this.#last = this.#last.then(() => this.#reload());
    return this.#last;
  }

  async #reload(): Promise<void> {
    const { read, use, changesForRestart, describe, log } = this.#terms;
    const before = describe();
    try {
      const settings = await read();
      await use(settings);
      log.info(describe(), 'Config reloaded.');
      const changed = changesForRestart(settings);
      if (changed.length > 0) log.warn({ settings: changed }, 'Some settings have changed that need a restart.');
      await this.#note(before, { ...describe(), needs_restart: changed });
    } catch (error) {
      const problems =
        error instanceof ConfigError ? { problems: error.problems.map(describeProblem) } : errorFields(error);
      log.error(problems, 'Reloading the config failed; the old one stays in effect.');
    }
  }

  async #note(before: object, after: object): Promise<void> {
    const { audit, log } = this.#terms;
    await audit(before, after).catch((error: unknown) =>
      log.error(errorFields(error), 'The reload cannot be written to the audit.'),
    );
  }
}
