import { ReceiptProver } from '../programs/receipt-proof.ts';
import type { ReceiptProofs } from '../signing.ts';
import type { Connections } from './connections.ts';
import { runProgram } from './directory.ts';
import { ONE_MOMENT } from './slices.ts';

export function postgresProofs(connections: Pick<Connections, 'transaction'>): ReceiptProofs {
  const prover = new ReceiptProver();
  return {
    prove: (id, accountId) =>
      connections.transaction((sql) => runProgram(sql, prover.prove(id, accountId)), ONE_MOMENT),
  };
}
