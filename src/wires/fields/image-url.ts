import type { ImageBlock } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { invalidValue } from './request-errors.ts';
import { isEmpty } from './without-effect.ts';

const DETAILS = ['low', 'high', 'auto', 'original'] as const;
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/i;

/** The name of the detail in notes about a host's wire that has none. */
export const IMAGE_DETAIL = 'image_url.detail';

/** Reads an image URL: a data URL is split into its parts; any other URL is fetched by the host. */
export function readImageUrl(url: string, detail: unknown, path: string): ImageBlock {
  const said = DETAILS.find((one) => one === detail) ?? null;
  if (!/^data:/i.test(url)) return { kind: 'image', source: { kind: 'url', url }, detail: said };
  const head = DATA_URL.exec(url);
  if (head === null) throw invalidValue(path, `\`${path}\` must be a base64 data URL such as data:image/png;base64,…`);
  return {
    kind: 'image',
    source: { kind: 'inline', mediaType: head[1]!, base64: url.slice(head[0].length) },
    detail: said,
  };
}

/** Names a detail that no wire knows; `readImageUrl` leaves it out. */
export function noteUnknownDetail(detail: unknown, path: string, adjustments: Adjustments): void {
  if (!isEmpty(detail) && !DETAILS.some((one) => one === detail)) adjustments.note(path);
}

export function writeImageUrl({ source }: ImageBlock): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;
}
