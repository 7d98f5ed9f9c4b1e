import * as Radix from '@radix-ui/react-dialog';
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { FormError } from './error-panel.tsx';
import { Field, TextInput } from './field.tsx';
import { IconButton } from './icon-button.tsx';
import { tabThroughNotices } from './notice-focus.ts';
import { isInNotice, NoticesInReach } from './notices.tsx';
import { useReturnFocus } from './return-focus.ts';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  onClose(): void;
  /**
   * For what cannot be shown again: Esc and clicks beside it do this instead of closing the dialog, and there is no button that
   * only closes it.
   */
  onAttempt?(): void;
  readonly width?: 'normal' | 'large';
}

/** A window over the page. The rest of the page cannot be used until it is closed. */
export function Dialog({ title, children, onClose, onAttempt, width = 'normal' }: DialogProps): ReactNode {
  const focus = useReturnFocus(focusFirstField);
  const guard = (event: Event): void => {
    if (onAttempt === undefined) return;
    event.preventDefault();
    onAttempt();
  };
  return (
    <Radix.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim print:hidden" />
        <Radix.Content
          aria-describedby={undefined}
          data-modal
          {...focus}
          onKeyDown={tabThroughNotices}
          onInteractOutside={(event) => (isInNotice(event) ? event.preventDefault() : guard(event))}
          onEscapeKeyDown={guard}
          className={`fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-32px)] w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-panel border border-line bg-panel outline-none print:static print:max-h-none print:w-full print:max-w-none print:translate-none print:border-0 ${width === 'large' ? 'max-w-[640px]' : 'max-w-[460px]'}`}
        >
          <NoticesInReach />
          <header className="flex min-h-13 items-center justify-between gap-3 py-3 pr-3 pl-5">
            <Radix.Title className="min-w-0 text-title font-semibold break-words">{title}</Radix.Title>
            {onAttempt === undefined ? (
              <Radix.Close asChild>
                <IconButton icon="close" label="Close" />
              </Radix.Close>
            ) : null}
          </header>
          <div data-body className="min-h-0 overflow-y-auto px-5 pb-5 print:overflow-visible">
            {children}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The first field, or the first element if there is none; not the button that closes the dialog. */
function focusFirstField(event: Event): void {
  const fields = (event.currentTarget as HTMLElement)
    .querySelector('form, [data-body]')
    ?.querySelectorAll<HTMLElement>('input, select, textarea, button');
  const [first] = fields ?? [];
  if (first === undefined) return;
  event.preventDefault();
  first.focus();
}

interface FormDialogProps {
  readonly title: string;
  /** The verb on the button. */
  readonly action: string;
  /** On the button that changes nothing, where "Cancel" could be taken for the action. */
  readonly dismissal?: string;
  readonly tone?: 'primary' | 'danger';
  readonly busy: boolean;
  readonly error: Error | string | null;
  readonly disabled?: boolean;
  readonly children: ReactNode;
  onSubmit(): void;
  onClose(): void;
}

/** A dialog with fields, a button that does what its title says, and the server's refusal if there is one. */
export function FormDialog(props: FormDialogProps): ReactNode {
  const { title, action, dismissal = 'Cancel', tone = 'primary', busy, error, disabled = false } = props;
  const { children, onSubmit, onClose } = props;
  const stay = useStayWhile(busy);
  const [isUnfinished, setUnfinished] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const unfinished = unfinishedField(event.currentTarget);
    setUnfinished(unfinished !== undefined);
    if (unfinished !== undefined) unfinished.focus();
    else if (!disabled && !busy) onSubmit();
  };
  return (
    <Dialog title={title} onClose={onClose} {...(busy ? { onAttempt: stay.onAttempt } : {})}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {children}
        <FormError error={isUnfinished ? UNFINISHED : error} />
        {stay.wasAttempted ? (
          <p role="status" className="rounded-control bg-warning-soft px-3 py-2 text-warning">
            This is being sent. Wait for the answer, which is shown here.
          </p>
        ) : null}
        <div className="flex justify-end gap-2">
          <Button disabled={busy} onClick={onClose}>
            {dismissal}
          </Button>
          <Button type="submit" tone={tone} busy={busy} disabled={disabled}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const UNFINISHED = 'A date is not complete. Enter all of it, or clear the field.';

/** The browser says that a field is empty in which only the day and the month are typed: the key would never expire. */
function unfinishedField({ elements }: HTMLFormElement): HTMLInputElement | undefined {
  return [...elements].find(
    (each): each is HTMLInputElement => 'validity' in each && (each as HTMLInputElement).validity.badInput,
  );
}

/**
 * If a form could be left while the server works, by Esc or by the browser's Back, nobody would see what came of it, and a new
 * secret would be made and never shown. A form that is done replaces the address, and may.
 */
function useStayWhile(busy: boolean): { readonly wasAttempted: boolean; onAttempt(): void } {
  const [wasAttempted, setAttempted] = useState(false);
  const onAttempt = (): void => setAttempted(true);
  if (!busy && wasAttempted) setAttempted(false);
  useBlocker({
    shouldBlockFn: ({ action }) => {
      if (action === 'REPLACE') return false;
      onAttempt();
      return true;
    },
    enableBeforeUnload: busy,
    disabled: !busy,
  });
  return { wasAttempted, onAttempt };
}

interface ConfirmProps extends Omit<FormDialogProps, 'disabled' | 'tone'> {
  /** What somebody has to type first, because it cannot be undone. */
  readonly typed?: string;
}

/** Browsers show several spaces as one, and so nobody could type a name that has them. */
function asShown(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

export function ConfirmDialog({ typed, children, ...rest }: ConfirmProps): ReactNode {
  const [text, setText] = useState('');
  return (
    <FormDialog {...rest} tone="danger" disabled={typed !== undefined && asShown(text) !== asShown(typed)}>
      <div className="text-muted">{children}</div>
      {typed === undefined ? null : (
        <Field label={`Type “${typed}” to confirm`}>
          {(id) => (
            <TextInput
              id={id}
              value={text}
              onChange={setText}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
      )}
    </FormDialog>
  );
}
