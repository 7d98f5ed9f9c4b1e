import type { Actor } from '../store/people.ts';
import type { Store } from '../store/store.ts';

interface ActingForSomebody {
  readonly store: Pick<Store, 'directory'>;
  readonly actor: Actor;
}

/** Whether the verb runs for somebody who may see all accounts. Whoever has the data folder or the configuration may. */
export async function actsAsOperator({ store, actor }: ActingForSomebody): Promise<boolean> {
  switch (actor.kind) {
    case 'command_line':
    case 'configuration':
      return true;
    case 'person':
      return (await store.directory.findPerson(actor.id!))?.isOperator === true;
    case 'management_key':
      return (await store.directory.findManagementKey(actor.id!))?.accountId === null;
    case 'gateway_key':
      return false;
  }
}
