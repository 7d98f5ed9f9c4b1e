import { z } from 'zod';
import { ManageError } from '../error.ts';
import type { ManageRoute } from '../route.ts';

export const EXPORT_FORMATS = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', jsonl: 'application/jsonl' };

export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl; charset=utf-8',
};

/** The schema of a row; null for a route that returns no list. */
export function rowSchemaOf({ response }: Pick<ManageRoute, 'response'>): z.ZodType | null {
  if (!(response instanceof z.ZodObject) || !('data' in response.shape)) return null;
  const data: unknown = response.shape.data;
  const rows = data instanceof z.ZodReadonly ? data.unwrap() : data;
  return rows instanceof z.ZodArray ? (rows.element as z.ZodType) : null;
}

/** The format that `format` or `accept` ask for, null for JSON. Takes `format` out of the query. */
export function takeFormat(
  route: ManageRoute,
  query: URLSearchParams,
  accept: string | undefined,
): ExportFormat | null {
  const given = query.getAll('format');
  query.delete('format');
  const isList = rowSchemaOf(route) !== null;
  if (given.length === 0) return isList ? accepted(accept ?? '') : null;
  if (!isList)
    throw new ManageError(400, 'invalid_input', 'format is for lists only. Leave it out.', { param: 'format' });
  const [format] = given;
  if (given.length > 1 || !(format === 'json' || isExport(format)))
    throw new ManageError(400, 'invalid_input', 'format must be json, csv or jsonl.', { param: 'format' });
  return format === 'json' ? null : format;
}

function isExport(format: string | undefined): format is ExportFormat {
  return EXPORT_FORMATS.includes(format as ExportFormat);
}

function accepted(accept: string): ExportFormat | null {
  const types = accept.split(',').map((type) => type.split(';', 1)[0]!.trim().toLowerCase());
  return EXPORT_FORMATS.find((format) => types.includes(MEDIA_TYPES[format])) ?? null;
}
