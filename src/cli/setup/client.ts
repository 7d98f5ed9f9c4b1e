import type { Capability } from '../../canonical/capability.ts';
import type { Environment } from '../../config/config.ts';
import type { SettingPath, SettingsFormat } from './format.ts';
import type { Setting } from './settings-file.ts';

/** What the settings of a client are made from. */
export interface SetupTerms {
  /** With `/v1` at its end. */
  readonly baseUrl: string;
  readonly model: string;
  /** The environment variable that holds the key; null if the gateway needs none. */
  readonly keyVariable: string | null;
  /** Null if the model is not in this machine's catalog. */
  readonly limits: { readonly contextTokens: number; readonly outputTokens: number } | null;
}

/** A client that `tollgate setup` configures. */
export interface SetupClient {
  readonly name: string;
  readonly title: string;
  readonly format: SettingsFormat;
  /** What a model must be capable of besides text, for the API that this client calls. */
  readonly capability?: Capability;
  file(places: Places): string;
  /** Every setting that `settings` may write, for undoing it. */
  readonly paths: readonly SettingPath[];
  settings(terms: SetupTerms): readonly Setting[];
  /** What the user has to do, besides: how to start it, and where its key comes from. */
  advice(terms: SetupTerms): string;
}

/** Where clients keep their settings. */
export interface Places {
  readonly env: Environment;
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, or `.config` in the home folder. */
  readonly configHome: string;
  readonly isMac: boolean;
  exists(path: string): boolean;
}

/** Sent where a client insists on a key and the gateway does not check it. */
export const NO_KEY = 'local';

export function exportAdvice(variable: string | null): string {
  return variable === null ? '' : ` It reads the key from ${variable}.`;
}
