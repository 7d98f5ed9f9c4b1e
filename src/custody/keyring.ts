import { addOwnKey, MasterKeyError, type MasterKeySource, readMasterKeys } from './master-keys.ts';
import { MasterSealer } from './seal.ts';

/** The master keys in force, and where they come from. */
export class MasterKeyring {
  readonly sealer: MasterSealer;
  #from: MasterKeySource;

  /** Throws a MasterKeyError. */
  constructor(from: MasterKeySource) {
    this.#from = from;
    this.sealer = new MasterSealer(readMasterKeys(from));
  }

  /** As people know it: a variable, a field, a file. */
  get source(): string {
    return this.#from.source;
  }

  /** Reads the keys again; where that fails, the old ones stay in force and it throws. */
  reload(from = this.#from): void {
    this.sealer.useKeys(readMasterKeys(from));
    this.#from = from;
  }

  /** Makes a new first key, where the keys are ours to make. */
  addKey(): void {
    if (this.#from.kind !== 'own-file') {
      throw new MasterKeyError(
        `The master keys come from ${this.source}: put the new one there, before the old, and rotate again without --new-key.`,
      );
    }
    this.sealer.useKeys(addOwnKey(this.#from.path));
  }
}
