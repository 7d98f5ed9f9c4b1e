import { IdSource } from '../src/kit/ids.ts';
import { commandLine } from '../src/operator/actor.ts';
import type { OperatorServices } from '../src/operator/operator.ts';

/** The services of an operation that is run on the command line. What a test does not give fails when it is used. */
export function operatorServices(
  given: Pick<OperatorServices, 'store' | 'clock'> & Partial<OperatorServices>,
): OperatorServices {
  return {
    ids: new IdSource(given.clock, 1),
    ledger: null as never,
    catalog: notGiven('catalog'),
    directory: null,
    backUp: null,
    hangups: () => null,
    moved: null,
    webhooks: notGiven('webhooks'),
    masterKeys: notGiven('masterKeys'),
    server: null,
    actor: { ...commandLine(), name: 'root' },
    publicUrl: 'https://gateway.example',
    ...given,
  };
}

function notGiven(name: keyof OperatorServices): () => never {
  return () => {
    throw new Error(`The test gave no ${name}.`);
  };
}
