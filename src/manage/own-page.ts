import { faultOfCookiePage, isForeignPage } from '../accounts/own-page.ts';
import type { InboundRequest } from '../http1/server.ts';
import { ManageError } from './error.ts';
import { notJson } from './request-body.ts';

export function refuseForeignPage(request: InboundRequest, ownOrigins: readonly string[]): void {
  if (isForeignPage(request, ownOrigins)) throw foreignPage();
}

export function requireOwnPage(request: InboundRequest, publicOrigin: string | null): void {
  const fault = faultOfCookiePage(request, publicOrigin);
  if (fault !== null) throw fault === 'not_json' ? notJson() : foreignPage();
}

function foreignPage(): ManageError {
  return new ManageError(
    403,
    'forbidden_origin',
    'Only pages of this gateway, at its `public_url`, may use the management API.',
  );
}
