import type { z } from 'zod';
import type { verification } from './input.ts';
import { liveServices } from './live.ts';
import type { OperatorServices } from './services.ts';
import { showStatus } from './status.ts';
import { verify } from './verify.ts';
import type { VerifyTaskView } from './verify-task.ts';
import type { StatusView } from './view.ts';

export type SystemView = StatusView & {
  readonly version: string;
  readonly settings: Readonly<Record<string, unknown>>;
};

export async function showSystem(services: OperatorServices): Promise<SystemView> {
  const { version, settings } = liveServices(services);
  return { ...(await showStatus(services)), version, settings: settings() };
}

export async function startVerification(
  services: OperatorServices,
  input: z.output<typeof verification>,
): Promise<VerifyTaskView> {
  return liveServices(services).verification.start((progress) => verify(services, input, progress));
}

export async function showVerification(services: OperatorServices): Promise<VerifyTaskView> {
  return liveServices(services).verification.view;
}
