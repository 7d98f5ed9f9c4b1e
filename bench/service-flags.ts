import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The flags with which the service of a checkout starts Node: what is measured is what operators run. */
export function serviceFlags(checkout: string = join(import.meta.dirname, '..')): string[] {
  const unit = join(checkout, 'deploy/tollgate.service');
  if (!existsSync(unit)) return [];
  const flags = /^ExecStart=\S+\/node((?: --\S+)*) /m.exec(readFileSync(unit, 'utf8'))?.[1] ?? '';
  return flags.split(' ').filter((flag) => flag !== '');
}
