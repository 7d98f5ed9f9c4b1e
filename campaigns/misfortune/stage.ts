import { rmSync } from 'node:fs';
import { diskFolder } from '../disk-folder.ts';
import { type Accounts, openAccounts } from './accounts.ts';
import { PostgresStage } from './postgres-stage.ts';
import { Upstream } from './upstream.ts';

/** What all rounds of a campaign share. */
export class Stage {
  readonly folder: string;
  readonly upstream: Upstream;
  /** A closed data folder with accounts and keys, which every round on SQLite copies. */
  readonly template: Accounts;
  #postgres: Promise<PostgresStage> | null = null;

  private constructor(folder: string, upstream: Upstream, template: Accounts) {
    this.folder = folder;
    this.upstream = upstream;
    this.template = template;
  }

  static async open(): Promise<Stage> {
    const folder = diskFolder('tollgate-misfortune-');
    const upstream = await Upstream.start();
    const template = await openAccounts(folder, upstream.url);
    return new Stage(folder, upstream, template);
  }

  /** Started by the first round that needs it. */
  postgres(): Promise<PostgresStage> {
    this.#postgres ??= PostgresStage.start();
    return this.#postgres;
  }

  async close(): Promise<void> {
    this.upstream.stop();
    await (await this.#postgres)?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
