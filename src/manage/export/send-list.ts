import type { z } from 'zod';
import { headerLines } from '../../http1/headers.ts';
import { clientReads, type OutboundResponse } from '../../http1/server.ts';
import { stringifyJson } from '../../json/stringify.ts';
import { columnsOf, headLine, rowLine } from './columns.ts';
import { CONTENT_TYPES, type ExportFormat } from './format.ts';

export interface RowPage {
  readonly data: readonly object[];
  readonly next: string | null;
}

/** A list that is sent page by page. The first page is read before the head is sent, so that a refusal has its status. */
export interface ListExport {
  readonly format: ExportFormat;
  readonly name: string;
  readonly row: z.ZodType;
  /** Members that this reader does not get. */
  readonly hidden: readonly string[];
  readonly first: RowPage;
  /** Reads the page after this cursor. */
  more(after: string): Promise<RowPage>;
}

/**
 * Sends every row. A page is read only when the client has taken the previous one, so memory stays the same however
 * long the list is; a client that is gone ends it.
 */
export async function sendList(list: ListExport, response: OutboundResponse, requestId: string): Promise<void> {
  const columns = columnsOf(list.row, list.hidden);
  const lineOf =
    list.format === 'csv' ? (row: object) => rowLine(columns, row) : (row: object) => `${stringifyJson(row)}\n`;
  response.head(
    200,
    headerLines({
      'content-type': CONTENT_TYPES[list.format],
      'content-disposition': `attachment; filename="${list.name}.${list.format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-gateway-request-id': requestId,
    }),
    null,
  );
  let lines = list.format === 'csv' ? headLine(columns) : '';
  let page = list.first;
  while (!response.destroyed) {
    lines += page.data.map(lineOf).join('');
    if (page.next === null) {
      response.end(lines);
      return;
    }
    if (lines !== '' && !response.write(lines)) await clientReads(response);
    lines = '';
    if (!response.destroyed) page = await list.more(page.next);
  }
}
