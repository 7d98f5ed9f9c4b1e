import { type ReactNode, useState } from 'react';
import { ApiError, type RouteName } from '../api/client.ts';
import { downloadList } from '../api/download.ts';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';
import { useNotices } from './notices.tsx';

interface ExportedList {
  readonly route: RouteName;
  /** The filters of the page: the file has exactly what they allow. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The name of the file, without its ending. */
  readonly name: string;
}

interface ExportButtonProps extends ExportedList {
  /** What the file has, if the page shows only some of it because the API has no such filter: `All accounts`. */
  readonly whole?: string;
  /** A second list of the same page, which has a file of its own, and what it has. */
  readonly also?: ExportedList & { readonly label: string };
}

/** Saves what is filtered, all of it, as a file. */
export function ExportButton({ also, whole, ...list }: ExportButtonProps): ReactNode {
  const { tellFailure } = useNotices();
  const [isBusy, setBusy] = useState(false);
  const save = async ({ route, input, name }: ExportedList, format: 'csv' | 'jsonl'): Promise<void> => {
    setBusy(true);
    try {
      await downloadList(route, input, format, name);
    } catch (error) {
      tellFailure(
        error instanceof ApiError ? error.message : 'The file did not arrive whole and was not saved. Try again.',
      );
    } finally {
      setBusy(false);
    }
  };
  const prefix = whole === undefined ? '' : `${whole}, `;
  return (
    <Menu
      trigger={
        <Button busy={isBusy} disabled={isBusy}>
          <Icon name="download" size={14} />
          {isBusy ? 'Exporting' : 'Export'}
        </Button>
      }
      items={[
        { label: `${prefix}CSV`, onSelect: () => void save(list, 'csv') },
        { label: `${prefix}JSON Lines`, onSelect: () => void save(list, 'jsonl') },
        ...(also === undefined
          ? []
          : [
              { label: `${also.label}, CSV`, onSelect: () => void save(also, 'csv') },
              { label: `${also.label}, JSON Lines`, onSelect: () => void save(also, 'jsonl') },
            ]),
      ]}
    />
  );
}
