import type { DocumentSize } from '../../canonical/prompt-size.ts';
import type { DocumentBlock } from '../../canonical/request.ts';
import { isAbsent, isText, type Members } from './members.ts';
import type { PromptVisitor } from './prompt-visitor.ts';
import { mustBe, unsupported } from './request-errors.ts';

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+);base64,/i;

/** Checks a file of the chat and responses wires: its data must be in the request itself. */
export function visitFile(file: Members, path: string, visitor: PromptVisitor): void {
  for (const name of ['file_id', 'file_url']) {
    if (isAbsent(file[name])) continue;
    throw unsupported(
      `${path}.${name}`,
      `\`${path}.${name}\` is not supported; send the document itself in \`file_data\`.`,
    );
  }
  const head = isText(file.file_data) ? DATA_URL.exec(file.file_data) : null;
  if (head === null) {
    throw mustBe(`${path}.file_data`, 'a base64 data: URL such as data:application/pdf;base64,…');
  }
  visitor.document(path, documentSize(head[1]!, head.input.length - head[0].length));
}

const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|javascript)$/i;

export function isTextType(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType);
}

/** The size of a document of this type, from the length of its base64 form. */
export function documentSize(mediaType: string, base64Chars: number): DocumentSize {
  return { bytes: Math.floor((base64Chars * 3) / 4), isText: isTextType(mediaType) };
}

/** Members of a file that are measured, or that no model reads. */
export const FILE_MEMBERS: ReadonlySet<string> = new Set(['file_data']);

/** Members of a file that are translated. */
export const FILE_PART_MEMBERS: ReadonlySet<string> = new Set(['file_data', 'filename']);

/** Reads a checked file. */
export function readFile({ file_data: data, filename }: Members): DocumentBlock {
  const url = String(data);
  const [head, mediaType] = DATA_URL.exec(url)!;
  const name = isText(filename) ? filename : null;
  return { kind: 'document', mediaType: mediaType!, base64: url.slice(head.length), filename: name };
}

/** Hosts require a name with a file. */
export function writeFile({ mediaType, base64, filename }: DocumentBlock): Members {
  return { filename: filename ?? unnamed(mediaType), file_data: `data:${mediaType};base64,${base64}` };
}

function unnamed(mediaType: string): string {
  return `document.${mediaType.slice(mediaType.indexOf('/') + 1).replace(/[^\w]/g, '')}`;
}
