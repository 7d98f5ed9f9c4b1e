import { type Config, ConfigError, describeProblem } from '../config/config.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Settings } from './workers/messages.ts';

interface ConfigReloadTerms {
  /** The config file that was read at the start; null if there was none. */
  readonly file: string | null;
  /** The mode of the gateway since its start. */
  readonly hosted: boolean;
  /** Reads the config file and the environment, and looks for local hosts. */
  read(): Promise<Settings>;
  use(settings: Settings): Promise<void>;
  /** Changed settings that only a restart uses. */
  changesForRestart(settings: Settings): readonly string[];
  /** What is logged about the settings in effect. */
  describe(): Record<string, unknown>;
  audit(before: object, after: object): Promise<void>;
  /** Logs what may be wrong with the settings in effect, although they are valid. */
  warn(): Promise<void>;
  readonly log: Log;
}

/**
 * Reloads the config, once for each signal. The next reload begins when the last one has ended: otherwise an older config,
 * whose local hosts answer late, could replace a newer one.
 */
export class ConfigReloads {
  readonly #terms: ConfigReloadTerms;
  /** The config file in effect. */
  #file: string | null;
  #last: Promise<void> = Promise.resolve();

  constructor(terms: ConfigReloadTerms) {
    this.#terms = terms;
    this.#file = terms.file;
  }

  /** An invalid config is logged, and the old one stays in effect. */
  reload(): Promise<void> {
    this.#last = this.#last.then(() => this.#reload());
    return this.#last;
  }

  async #reload(): Promise<void> {
    const { hosted, read, use, changesForRestart, describe, warn, log } = this.#terms;
    const before = describe();
    try {
      const settings = await read();
      refuseLostFile(this.#file, settings.config.file);
      refuseOtherMode(hosted, settings.config);
      await use(settings);
      this.#file = settings.config.file;
      log.info(describe(), 'Config reloaded.');
      const changed = changesForRestart(settings);
      if (changed.length > 0) log.warn({ settings: changed }, 'Some settings have changed that need a restart.');
      await this.#note(before, { ...describe(), needs_restart: changed });
      await warn();
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

/** A file may be missing for a moment while it is replaced. Reading on without it would sell at other prices. */
function refuseLostFile(before: string | null, now: string | null): void {
  if (before === null || now !== null) return;
  const message = 'is gone; put it back, or write {} into it to use the defaults';
  throw new ConfigError([{ source: before, path: '', message }]);
}

/** The mode also chooses hosts and the source of the master keys, so that a reload would apply a part of it. */
function refuseOtherMode(before: boolean, { hosted, file }: Pick<Config, 'hosted' | 'file'>): void {
  if (hosted === before) return;
  const mode = hosted ? 'hosted' : 'local';
  const message = `cannot change in a running gateway; restart it to serve in ${mode} mode, or set it back to ${before}`;
  throw new ConfigError([{ source: file ?? '', path: 'hosted', message }]);
}
