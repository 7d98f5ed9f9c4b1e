import type { Metrics } from './metrics.ts';
import type { OperationsResponse } from './operations.ts';

interface HealthSources {
  /** The health of the store, and whether it admits calls. */
  health(): Promise<{ readonly ok: boolean; readonly mayAdmit: boolean; readonly reason: string | null }>;
  draining(): boolean;
}

type Answering = readonly [path: string, answer: () => OperationsResponse | Promise<OperationsResponse>];

/** `/livez`: the process responds. `/readyz`: it would admit a call now. */
export function healthResponses(sources: HealthSources): Answering[] {
  return [
    ['/livez', () => json(200, { status: 'ok' })],
    ['/readyz', () => readiness(sources)],
  ];
}

export function metricsResponse(metrics: Metrics): Answering {
  return ['/metrics', async () => ({ status: 200, type: metrics.contentType, body: await metrics.text() })];
}

async function readiness(sources: HealthSources): Promise<OperationsResponse> {
  if (sources.draining()) return json(503, { status: 'draining' });
  const { ok, reason, mayAdmit } = await sources.health();
  return ok && mayAdmit ? json(200, { status: 'ok' }) : json(503, { status: 'unavailable', reason });
}

function json(status: number, value: unknown): OperationsResponse {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}
