import type { z } from 'zod';
import type { Finding } from '../alerts/alerts.ts';
import { counted } from '../kit/counted.ts';
import type { VerifyProgress } from '../ledger/ledger.ts';
import { alertsOf } from './alerts.ts';
import type { verification } from './input.ts';
import type { OperatorServices } from './services.ts';
import { acceptedLossView, type LedgerView, type VerifyView, verifyView } from './view.ts';

export async function verify(
  services: OperatorServices,
  { since, usage }: z.output<typeof verification>,
  progress?: (done: VerifyProgress) => void,
): Promise<LedgerView> {
  const { ledger, store, moved } = services;
  const report = verifyView(await ledger.verify(progress, since, usage));
  if (moved === null) await tell(services, report, usage);
  return { ...report, accepted_losses: (await store.acceptedLosses()).map(acceptedLossView) };
}

const CONDITION = 'verify';

/** A part of the ledger that is right says nothing about the rest, so only a whole verification resolves the alert. */
async function tell(services: OperatorServices, { ok, since, violations }: VerifyView, usage: boolean): Promise<void> {
  const cleared = ok && since === null && usage ? [CONDITION] : [];
  await alertsOf(services).update({ findings: ok ? [] : [findingOf(violations)], cleared });
}

function findingOf(violations: readonly string[]): Finding {
  return {
    condition: CONDITION,
    kind: 'verify',
    accountId: null,
    subject: 'ledger',
    message: `The verification of the ledger found ${counted(violations.length, 'violation')}. The first: ${violations[0]}`,
    figures: { violations: violations.length },
  };
}
