import { MasterKeyring } from '../custody/keyring.ts';
import {
  inspectMasterKeys,
  isOwnFileMissing,
  lostOwnFile,
  MasterKeyError,
  type MasterKeySource,
} from '../custody/master-keys.ts';
import { type SealedStore, sealedRows } from '../operator/seal.ts';

/** Throws a MasterKeyError if the gateway's own key file is gone although something in the ledger is encrypted. */
export async function refuseLostKey(from: MasterKeySource, store: SealedStore): Promise<void> {
  if (!isOwnFileMissing(from)) return;
  const rows = await sealedRows(store)(null, 1);
  if (rows.length > 0) throw lostOwnFile(from.path);
}

/** The master keys, for a command without a running server. */
export async function commandKeyring(
  from: MasterKeySource,
  store: SealedStore,
  mayMake: boolean,
): Promise<MasterKeyring> {
  await refuseLostKey(from, store);
  if (!mayMake && isOwnFileMissing(from)) throw new MasterKeyError(inspectMasterKeys(from));
  return new MasterKeyring(from);
}
