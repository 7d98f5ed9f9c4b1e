/** Where a setting is in a file; what the steps mean is up to the format. */
export type SettingPath = readonly string[];

/**
 * Edits one setting of a settings file as text, so that comments, order and all other settings stay as they are. Values are
 * in the format's own notation.
 */
export interface SettingsFormat {
  /** The value as it is written; null if the setting is not there. */
  read(text: string, path: SettingPath): string | null;
  /** The text with the setting replaced or added. */
  write(text: string, path: SettingPath, value: string): string;
  /** The text without the setting; unchanged if it is not there. */
  remove(text: string, path: SettingPath): string;
  /** The groups that a setting is in, innermost first. */
  parents(path: SettingPath): readonly SettingPath[];
  /** Whether this value of a group has nothing in it. */
  isEmpty(value: string): boolean;
}

/** The file is invalid, or written in a way that this editor does not change. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export function splice(source: string, { start, end, text }: Splice): string {
  return source.slice(0, start) + text + source.slice(end);
}
