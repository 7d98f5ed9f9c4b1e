import { errorFields, type Log } from '../kit/log.ts';
import type { Running } from './start.ts';

/** Logs what a valid config may do against its author's wish. A start shows the first of these on the terminal. */
export async function warnAfterReload(
  { catalog, unreadableSecrets }: Pick<Running, 'catalog' | 'unreadableSecrets'>,
  log: Log,
): Promise<void> {
  const { unpriced } = catalog;
  if (unpriced.length > 0) log.warn({ models: unpriced }, 'Some models are not served, because they have no price.');
  try {
    const secrets = await unreadableSecrets();
    if (secrets > 0) log.error({ secrets }, UNREADABLE);
  } catch (error) {
    log.warn(
      errorFields(error),
      'Stored secrets cannot be read, so it is unknown whether the master keys decrypt them.',
    );
  }
}

const UNREADABLE =
  'Some stored secrets cannot be decrypted with the master keys in use. Add the key that encrypted them after the others, and reload; "tollgate seal status" lists them.';
