import type { ImageBlock } from '../../canonical/request.ts';
import { invalidValue } from './request-errors.ts';

const DETAILS = ['low', 'high', 'auto', 'original'] as const;
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/i;

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

export function writeImageUrl({ source }: ImageBlock): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.base64}`;
}
