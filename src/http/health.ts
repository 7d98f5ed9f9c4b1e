import type { FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';

export interface HealthSources {
  /** How the ledger's store is, and whether it lets calls in. */
  health(): Promise<{ readonly ok: boolean; readonly mayAdmit: boolean; readonly reason: string | null }>;
  draining(): boolean;
}

/** Alive: the process answers. Ready: it would admit a call now. */
export function addHealth(server: FastifyInstance, sources: HealthSources): void {
  server.get('/livez', (_request, reply) => reply.send({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    if (sources.draining()) return reply.code(503).send({ status: 'draining' });
    const { ok, reason, mayAdmit } = await sources.health();
    if (ok && mayAdmit) return reply.send({ status: 'ok' });
    return reply.code(503).send({ status: 'unavailable', reason });
  });
}

export function addMetrics(server: FastifyInstance, metrics: Metrics): void {
  server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
}
