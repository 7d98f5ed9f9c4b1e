import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { Button } from './button.tsx';

/** What failed, in the server's words, and a way to try again, or a way out if the address asks for what is not there. */
export function ErrorPanel({ error, again }: { readonly error: Error; again?(): void }): ReactNode {
  const search: object = useSearch({ strict: false });
  const isFiltered = Object.keys(search).some((name) => !NO_FILTERS.includes(name));
  if (isRefused(error) && isFiltered) return <WrongAddress message={error.message} />;
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div role="alert" className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-14 text-center">
      <p className="text-title font-semibold">This could not be loaded</p>
      <p className="text-muted">{error.message}</p>
      {requestId === null ? null : <p className="font-mono text-small text-muted">{requestId}</p>}
      {again === undefined ? null : (
        <Button onClick={again} className="mt-2">
          Try again
        </Button>
      )}
    </div>
  );
}

/** Parts of an address that choose no rows of a list. */
const NO_FILTERS = ['account', 'open', 'dialog', 'order'];

/** Whether the same read is refused as long as the address says the same. */
function isRefused(error: Error): boolean {
  return error instanceof ApiError && ['not_found', 'invalid_input'].includes(error.code);
}

function WrongAddress({ message }: { readonly message: string }): ReactNode {
  return (
    <div role="alert" className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-14 text-center">
      <p className="text-title font-semibold">These filters cannot be used</p>
      <p className="max-w-full text-muted wrap-anywhere">{message}</p>
      <Link
        to="."
        search={(({ account }: { account?: string }) => ({ account })) as never}
        className="mt-2 font-medium text-accent underline"
      >
        Remove the filters
      </Link>
    </div>
  );
}

/** A refusal inside a form or dialog. */
export function FormError({ error }: { readonly error: Error | string | null }): ReactNode {
  if (error === null) return null;
  return (
    <p role="alert" className="rounded-control bg-error-soft px-3 py-2 text-error">
      {typeof error === 'string' ? error : error.message}
    </p>
  );
}
