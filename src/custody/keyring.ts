import {
  addOwnKey,
  isOwnFileMissing,
  keepOwnFile,
  MasterKeyError,
  type MasterKeySource,
  type OwnFile,
  readMasterKeys,
  readMasterKeysMeanwhile,
} from './master-keys.ts';
import { type MasterKeys, MasterSealer } from './seal.ts';

/** The current master keys and their source. */
export class MasterKeyring {
  readonly sealer: MasterSealer;
  /** Called with the keys that are used from now on, when they were read again or one was added. */
  onKeys: ((keys: MasterKeys) => void) | null = null;
  #from: MasterKeySource;

  /** Reads the keys from there unless they are given. Throws a MasterKeyError. */
  constructor(from: MasterKeySource, keys?: MasterKeys) {
    this.#from = from;
    this.sealer = new MasterSealer(keys ?? readMasterKeys(from));
  }

  /** The variable, field or file that gave the keys. */
  get source(): string {
    return this.#from.source;
  }

  /** Reads the keys again. If that fails, it throws and the old keys stay in use. */
  async reload(): Promise<void> {
    const from = this.#from;
    const keys = await this.read(from);
    // A reload of the config has named another source meanwhile.
    if (this.#from !== from) return this.reload();
    this.use(keys);
    this.onKeys?.(keys);
  }

  /**
   * Reads the keys while calls go on, and uses them not yet. If the gateway's own file was deleted, it is written again: its
   * keys are here. Reads again if an operator has rotated the keys meanwhile.
   */
  async read(from: MasterKeySource): Promise<MasterKeys> {
    if (this.#isOwnFile(from)) keepOwnFile(from.path, this.sealer.keys);
    const before = this.sealer.keys;
    const keys = await readMasterKeysMeanwhile(from);
    return this.sealer.keys === before ? keys : this.read(from);
  }

  /** Whether reading the keys from there would make a file with new ones, which decrypt nothing that is stored. */
  wouldMakeKeys(from: MasterKeySource): from is OwnFile {
    return isOwnFileMissing(from) && !this.#isOwnFile(from);
  }

  #isOwnFile(from: MasterKeySource): from is OwnFile {
    return from.kind === 'own-file' && this.#from.kind === 'own-file' && from.path === this.#from.path;
  }

  /** Uses keys that were read before. */
  use(keys: MasterKeys, from = this.#from): void {
    this.sealer.useKeys(keys);
    this.#from = from;
  }

  /** Makes a new first key, if the keys are in the gateway's own file. */
  addKey(): void {
    if (this.#from.kind !== 'own-file') {
      throw new MasterKeyError(
        `The master keys come from ${this.source}: add the new one there, before the old one, and rotate again without --new-key.`,
      );
    }
    keepOwnFile(this.#from.path, this.sealer.keys);
    this.use(addOwnKey(this.#from.path));
    this.onKeys?.(this.sealer.keys);
  }
}
