import { LIMITS } from '../limits.ts';
import { findEssential, findLimit } from './fields/essential-fields.ts';
import { untranslatable } from './fields/request-errors.ts';

/** Canonical names of fields that the caller's wire calls something else. */
export type FieldNames = Readonly<Record<string, string>>;

/**
 * What one translation leaves out of a request. A field that cannot be translated is refused, or dropped and noted if the
 * caller allows that.
 */
export class Adjustments {
  readonly #mayDrop: boolean;
  #names: FieldNames;
  readonly #dropped: Set<string>;
  /** Numbers that were changed, like `thinking.budget_tokens=1024`. */
  readonly #changed: string[];

  constructor(mayDrop: boolean, names: FieldNames = {}, earlier?: Adjustments) {
    this.#mayDrop = mayDrop;
    this.#names = names;
    this.#dropped = new Set(earlier === undefined ? [] : earlier.#dropped);
    this.#changed = earlier === undefined ? [] : [...earlier.#changed];
  }

  /** A copy of the notes so far, for one of several translations of a request that was read once. */
  copy(): Adjustments {
    return new Adjustments(this.#mayDrop, this.#names, this);
  }

  /** The caller wrote this field in another place. */
  rename(param: string, written: string): void {
    this.#names = { ...this.#names, [param]: written };
  }

  /** What the caller calls this field. */
  writtenName(param: string): string {
    return this.#names[param] ?? param;
  }

  /** Whether the caller allows that fields are dropped. */
  get mayDrop(): boolean {
    return this.#mayDrop;
  }

  /** This field cannot be translated. */
  drop(param: string, remedy?: string): void {
    if (!this.#mayDrop) this.refuse(param, remedy);
    this.note(param);
  }

  /** This field cannot be translated, and the call must not run without it. */
  refuse(param: string, remedy?: string): never {
    throw untranslatable(this.writtenName(param), remedy);
  }

  /** This field of the request, which its wire does not define, cannot be translated. It is named as the caller wrote it. */
  dropUnknown(name: string, value: unknown, path = name): void {
    const essential = findEssential(name, value, path);
    if (essential !== null) throw untranslatable(essential);
    if (!this.#mayDrop) throw untranslatable(path);
    this.#noteAs(path);
  }

  /** This member, which only some vendors have, is left out and named, unless it is a limit. */
  noteUnknown(name: string, value: unknown, path: string): void {
    const limit = findLimit(name, value, path);
    if (limit !== null) throw untranslatable(limit);
    this.#noteAs(path);
  }

  /** This field is left out; it is never important enough for a refusal. */
  note(param: string): void {
    this.#noteAs(this.writtenName(param));
  }

  /** The host gets another number in this field. */
  change(param: string, value: number): void {
    this.#changed.push(`${shownName(this.writtenName(param))}=${value}`);
  }

  /** Several tools may lack the same member; its name is needed once. */
  #noteAs(written: string): void {
    this.#dropped.add(shownName(written));
  }

  /** One line for header and receipt, like `seed=dropped,max_tokens=16384`; null if nothing was dropped or changed. */
  describe(clamped: Clamped | null): string | null {
    if (clamped === null && this.#dropped.size === 0 && this.#changed.length === 0) return null;
    // A changed limit is always named: it decides what the call may cost.
    const limits =
      clamped === null ? this.#changed : [...this.#changed, `${shownName(clamped.field)}=${clamped.tokens}`];
    const shown = [...this.#dropped].slice(0, LIMITS.adjustedFieldsMax - limits.length);
    const others = this.#dropped.size - shown.length;
    const entries = [...shown.map((name) => `${name}=dropped`), ...limits];
    if (others > 0) entries.push(`+${others}`);
    return entries.join(',');
  }
}

/** An output limit that was lowered to the model's maximum. */
export interface Clamped {
  readonly field: string;
  readonly tokens: number;
}

/** Refuses whatever cannot be translated. */
export function refusing(names?: FieldNames): Adjustments {
  return new Adjustments(false, names);
}

/** A path as a header may carry it: `messages[0].name` becomes `messages.0.name`. */
function shownName(param: string): string {
  const dotted = param.replaceAll('[', '.').replaceAll(']', '');
  return dotted.replace(/[^A-Za-z0-9_.]/g, '_').slice(0, LIMITS.adjustedNameCharsMax);
}
