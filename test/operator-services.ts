import { IdSource } from '../src/kit/ids.ts';
import { commandLine } from '../src/operator/actor.ts';
import {
  type OperatorServices,
  runVerb,
  type VerbInput,
  type VerbName,
  type VerbResult,
} from '../src/operator/operator.ts';

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

/** Runs verbs with the services that the test has by then, and with types of their own. */
export function verbRunner(services: () => OperatorServices) {
  return <Name extends VerbName>(name: Name, input: VerbInput<Name>): Promise<VerbResult<Name>> =>
    runVerb(services(), name, input) as Promise<VerbResult<Name>>;
}
