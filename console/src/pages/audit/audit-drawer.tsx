import type { ReactNode } from 'react';
import type { AuditEntry } from '../../api/generated/routes.ts';
import { Drawer } from '../../parts/drawer.tsx';
import { Facts } from '../../parts/facts.tsx';
import { formatExact } from '../../parts/money-format.ts';
import { formatFull } from '../../parts/time-format.ts';
import { PageLink } from '../../shell/page-link.tsx';
import { actionLabel } from './audit-words.ts';

/** One change: what every member was before and is now. */
export function AuditDrawer({ entry, onClose }: { readonly entry: AuditEntry; onClose(): void }): ReactNode {
  const [before, after] = [asObject(entry.before), asObject(entry.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !UNSAID.has(name));
  // What is new had no values before, and a column of dashes would take the room of those it has now.
  const hasBefore = Object.keys(before).length > 0;
  return (
    <Drawer title={actionLabel(entry.action)} onClose={onClose}>
      <div className="flex flex-col gap-5">
        <Facts
          facts={[
            ['Time', formatFull(entry.at)],
            ['Who', entry.actor.name],
            ...(entry.actor.id === null ? [] : [['Id', mono(entry.actor.id)] as const]),
            ['Action', mono(entry.action)],
            ['What', mono(entry.subject)],
            ...(entry.account === null ? [] : [['Account', mono(entry.account)] as const]),
            ['Address', entry.address ?? '–'],
          ]}
        />
        {names.length === 0 ? (
          <p className="text-muted">Nothing else is recorded about this action.</p>
        ) : (
          <table
            aria-label="What changed"
            className="w-full table-fixed border-separate border-spacing-0 rounded-panel border border-line"
          >
            <thead>
              <tr className="text-head text-muted">
                {(hasBefore ? ['Field', 'Before', 'After'] : ['Field', 'Value']).map((head) => (
                  <th key={head} scope="col" className="px-3 py-1.5 text-left font-medium">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name} className="align-top">
                  <th scope="row" className="border-t border-line px-3 py-1.5 text-left font-normal break-words">
                    {name.replace(/_nanousd$/, '').replaceAll('_', ' ')}
                  </th>
                  {hasBefore ? (
                    <td className="border-t border-line px-3 py-1.5 break-words text-muted">
                      {valueText(name, before[name])}
                    </td>
                  ) : null}
                  <td className="border-t border-line px-3 py-1.5 break-words">{valueText(name, after[name])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p>
          <PageLink to="/audit" search={{ subject: entry.subject }} className="font-medium text-accent hover:underline">
            Everything about {entry.subject}
          </PageLink>
        </p>
      </div>
    </Drawer>
  );
}

/** The type of the view, which the title says in words. */
const UNSAID: ReadonlySet<string> = new Set(['object']);

function mono(text: string): ReactNode {
  return <span className="font-mono text-small break-all">{text}</span>;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function valueText(name: string, value: unknown): string {
  if (value === undefined || value === null) return '–';
  if (typeof value === 'bigint') return formatExact(value).replace(/0{0,7}$/, '');
  if (typeof value === 'number' && /(_at|created|expires)$/.test(name)) return formatFull(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
