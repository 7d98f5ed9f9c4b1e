import type { AuditView } from '../../operator/people-view.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import { formatTable } from '../table.ts';
import { readMoment, time } from '../text-values.ts';

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list changes, the newest first: who changed what, when and from where',
  options: [
    ['--account <account>', 'only changes in this account'],
    ['--person <person>', 'only changes by this person'],
    ['--action <action>', 'only this action, like key.mint'],
    ['--subject <id>', 'only changes of this key, person or other thing'],
    ['--since <when>', 'only changes since a date like 2027-01-31, or a duration ago, like 7d'],
    ...PAGE_OPTIONS,
  ],
  examples: ['tollgate audit list --since 7d', 'tollgate audit list --account ada --json'],
  async run(session, _args, options) {
    const since = textOf(options, 'since');
    const answer = await session.ask('audit.list', {
      account: textOf(options, 'account'),
      person: textOf(options, 'person'),
      action: textOf(options, 'action'),
      subject: textOf(options, 'subject'),
      since: since === null ? null : readMoment(since, '--since', session.composition.clock, 'ago'),
      ...readPage(options),
    });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0) session.advise('No change matches.');
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

export const auditCommands: CommandGroup = {
  name: 'audit',
  summary: 'see who changed what',
  commands: [listCommand],
};

const COLUMNS = [
  { title: 'WHEN (UTC)', text: (entry: AuditView) => time(entry.at) },
  { title: 'WHO', text: ({ actor }: AuditView) => `${actor.name} (${actor.kind.replace('_', ' ')})` },
  { title: 'WHAT', text: (entry: AuditView) => entry.action },
  { title: 'ON', text: (entry: AuditView) => entry.subject },
  { title: 'FROM', text: (entry: AuditView) => entry.address ?? '-' },
] as const;

function textOf(options: Options, name: string): string | null {
  const value = options[name];
  return typeof value === 'string' ? value : null;
}
