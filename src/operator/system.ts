import type { z } from 'zod';
import type { verification } from './input.ts';
import { liveServices } from './live-services.ts';
import type { OperatorServices } from './services.ts';
import { showStatus } from './status.ts';
import { verify } from './verify.ts';
import type { VerifyTaskView } from './verify-task.ts';
import type { StatusView } from './view.ts';

type SystemView = StatusView & {
  readonly version: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Where a setting comes from, by its path in `settings`, like `listen.port`. Those at their default are absent. */
  readonly setting_sources: Readonly<Record<string, string>>;
  readonly disk_free_bytes: number | null;
};

export async function showSystem(services: OperatorServices): Promise<SystemView> {
  const { version, settings, settingSources, diskFreeBytes } = liveServices(services);
  return {
    ...(await showStatus(services)),
    version,
    settings: settings(),
    setting_sources: settingSources(),
    disk_free_bytes: await diskFreeBytes(),
  };
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
