import * as Dialog from '@radix-ui/react-dialog';
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { type ReactNode, useState } from 'react';
import { useApi } from '../api/queries.ts';
import { isRequestId } from '../api/request-id.ts';
import { useReturnFocus } from '../parts/return-focus.ts';
import { pagesFor } from './pages.ts';
import { type Search, useFilters } from './search.ts';
import { useAccountInput, useViewer } from './viewer.tsx';

const KEYS_MAX = 1_000;

interface Target {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  readonly to: string;
  readonly search?: Search;
}

/** Finds pages, keys, models and a pasted request id. */
export default function Palette({ onClose }: { onClose(): void }): ReactNode {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const { search } = useFilters();
  const groups = useTargets(text.trim());
  const focus = useReturnFocus();
  const open = ({ to, search: more = {} }: Target): void => {
    onClose();
    void navigate({ to, search: { account: search.account, ...more } as never });
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focus}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-[560px] -translate-x-1/2 overflow-hidden rounded-panel border border-line-strong bg-panel outline-none"
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Command label="Search" loop>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Page, key, model or request id"
              className="h-12 w-full border-b border-line bg-transparent px-4 text-title outline-none"
            />
            <Command.List className="max-h-80 overflow-y-auto p-2">
              <Command.Empty className="px-2 py-6 text-center text-muted">Nothing found.</Command.Empty>
              {groups.map(({ heading, targets }) => (
                <Command.Group
                  key={heading}
                  heading={heading}
                  className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-head [&_[cmdk-group-heading]]:text-muted"
                >
                  {targets.map((target) => (
                    <PaletteItem key={target.id} target={target} onOpen={open} />
                  ))}
                </Command.Group>
              ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteItem({ target, onOpen }: { readonly target: Target; onOpen(target: Target): void }): ReactNode {
  return (
    <Command.Item
      value={`${target.label} ${target.detail ?? ''} ${target.id}`}
      onSelect={() => onOpen(target)}
      className="flex h-8 cursor-pointer items-center justify-between gap-4 rounded-control px-2 data-[selected=true]:bg-raised"
    >
      <span className="truncate">{target.label}</span>
      <span className="truncate font-mono text-small text-muted">{target.detail}</span>
    </Command.Item>
  );
}

function useTargets(text: string): readonly { readonly heading: string; readonly targets: readonly Target[] }[] {
  const viewer = useViewer();
  const account = useAccountInput();
  const keys = useApi('GET /keys', { ...account, limit: KEYS_MAX }, { staleMs: 30_000 });
  const models = useApi('GET /models', {}, { staleMs: 300_000 });
  const pages = pagesFor(viewer);
  const hasModels = pages.some(({ path }) => path === '/models');
  const groups = [
    {
      heading: 'Requests',
      targets: isRequestId(text)
        ? [{ id: text, label: 'Open the receipt', detail: text, to: '/requests', search: { open: text } }]
        : [],
    },
    { heading: 'Pages', targets: pages.map(({ path, label }) => ({ id: path, label, to: path })) },
    {
      heading: 'Keys',
      targets: (keys.data?.data ?? []).map(({ id, name, hint }) => ({
        id,
        label: name,
        detail: hint,
        to: '/keys',
        search: { open: id },
      })),
    },
    {
      heading: 'More keys',
      targets:
        text !== '' && (keys.data?.next ?? null) !== null
          ? [{ id: `keys ${text}`, label: `Search all keys for “${text}”`, to: '/keys', search: { q: text } }]
          : [],
    },
    {
      heading: 'Models',
      targets: (models.data?.data ?? []).map(({ id, name }) => ({
        id,
        label: id,
        detail: name === id ? '' : name,
        ...(hasModels ? { to: '/models', search: { open: id } } : { to: '/requests', search: { model: id } }),
      })),
    },
  ];
  return groups.filter(({ targets }) => targets.length > 0);
}
