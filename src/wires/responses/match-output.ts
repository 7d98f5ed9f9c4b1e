import { isText, type Members } from '../fields/members.ts';
import { type EventRole, type PartKind, partKindOf } from './item-kinds.ts';

/** How an event refers to its item. */
export interface HostNames {
  readonly hostIndex: unknown;
  readonly hostId: unknown;
}

/** A part, and what has come of it. */
export interface KnownPart {
  readonly kind: PartKind;
  /** The host's number for it, which may be wrong. */
  hostIndex: unknown;
  words: string;
  areWordsDone: boolean;
  isDone: boolean;
}

/** Events refer to their item by id and by index. Some hosts change ids or repeat indexes, so either may be wrong. */
export function findItem<T extends HostNames>(items: readonly T[], id: unknown, index: unknown): T | undefined {
  const last = items.at(-1);
  if (last !== undefined && last.hostId === id && isText(id)) return last;
  const byId = isText(id) ? items.findLast((item) => item.hostId === id) : undefined;
  return byId ?? (index === undefined ? undefined : items.findLast((item) => item.hostIndex === index));
}

/**
 * The known item of each item in the host's last event: by id, else by index, else the next one of its type. Each known
 * item is used once, so that nothing is sent twice.
 */
export function matchItems<T extends HostNames & { readonly type: unknown }>(
  items: readonly T[],
  output: readonly Members[],
): (T | undefined)[] {
  const left = new Set(items);
  const found = output.map(({ id }) => (isText(id) ? take(left, ({ hostId }) => hostId === id) : undefined));
  output.forEach(({ type }, index) => {
    found[index] ??= take(left, (item) => item.hostIndex === index && item.type === type);
  });
  output.forEach(({ type }, index) => {
    found[index] ??= take(left, (item) => item.type === type);
  });
  return found;
}

/**
 * The part that an event is about: the last one of its kind with its number. Some hosts number parts wrongly; then text
 * belongs to the last part of its kind if it has no text yet, and an end belongs to the last open part. Text after the
 * end of a part begins another.
 */
export function findPart<T extends KnownPart>(
  parts: readonly T[],
  kind: PartKind,
  hostIndex: unknown,
  act: EventRole['act'],
): T | undefined {
  const last = parts.findLast((part) => part.kind === kind);
  if (last === undefined) return undefined;
  const isMeant = (part: T): boolean => part.kind === kind && (hostIndex === undefined || part.hostIndex === hostIndex);
  const numbered = isMeant(last) ? last : parts.findLast(isMeant);
  if (act !== 'words') return numbered ?? (hasEnded(last, act) ? undefined : last);
  if (numbered !== undefined && !hasEnded(numbered, act)) return numbered;
  if (last.words !== '' || hasEnded(last, act)) return undefined;
  last.hostIndex = hostIndex;
  return last;
}

/** Whether a part can take no more events of this kind: the host only repeats itself. */
export function hasEnded({ areWordsDone, isDone }: KnownPart, act: EventRole['act']): boolean {
  if (act === 'words') return areWordsDone || isDone;
  return act === 'words-done' ? areWordsDone : isDone;
}

/** For each part of a finished item, the streamed part that it repeats: the one with the same text, else the next one of its kind. */
export function matchParts<T extends KnownPart>(known: readonly T[], finished: readonly Members[]): (T | undefined)[] {
  const left = new Set(known);
  const kinds = finished.map(({ type }) => partKindOf(type));
  const found = finished.map((part, at) =>
    take(left, ({ kind, words }) => kind === kinds[at] && words !== '' && words === part[kind.words]),
  );
  finished.forEach((_, at) => {
    found[at] ??= take(left, ({ kind }) => kind === kinds[at]);
  });
  return found;
}

/** Removes and returns the first one that fits. */
function take<T>(left: Set<T>, fits: (one: T) => boolean): T | undefined {
  for (const one of left) {
    if (!fits(one)) continue;
    left.delete(one);
    return one;
  }
  return undefined;
}
