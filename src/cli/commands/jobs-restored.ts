import { counted } from '../../kit/counted.ts';
import type { RestoredJobsView } from '../../operator/jobs.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';

const RESTORED_OPTION = ['--restored', 'the jobs that are paused because the ledger was restored'] as const;

/** After a restore nobody can know whether a paused job ran, so the operator decides. */
export const resumeRestoredCommand: CommandSpec = {
  name: 'resume',
  summary: 'queue the jobs that a restore of the ledger has paused; some may run, and be charged, a second time',
  options: [RESTORED_OPTION],
  examples: ['tollgate jobs resume --restored'],
  async run(session, _args, options) {
    refuseWithoutFlag(options.restored);
    const answer = await session.ask('jobs.resume', { restored: true });
    session.show(answer, describe);
    return EXIT.ok;
  },
};

export const failRestoredCommand: CommandSpec = {
  name: 'fail',
  summary: 'end the jobs that a restore of the ledger has paused as failed, and free what was reserved for them',
  options: [RESTORED_OPTION],
  examples: ['tollgate jobs fail --restored'],
  async run(session, _args, options) {
    refuseWithoutFlag(options.restored);
    const answer = await session.ask('jobs.fail', { restored: true });
    session.show(answer, describe);
    return EXIT.ok;
  },
};

function refuseWithoutFlag(restored: string | boolean | undefined): void {
  if (restored !== true) throw usageFailure('Add --restored: the command is only for jobs that a restore has paused.');
}

function describe({ status, jobs }: RestoredJobsView): string {
  return status === 'resumed' ? `Queued ${counted(jobs, 'job')} again.` : `Ended ${counted(jobs, 'job')} as failed.`;
}
