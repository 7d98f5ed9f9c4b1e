import { readFileSync } from 'node:fs';
import { JsonError, scanJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { ConfigError } from './problems.ts';

const FILE_JSON_LIMITS = {
  depthMax: LIMITS.jsonDepthMax,
  nodesMax: LIMITS.jsonNodesMax,
  keysMax: LIMITS.jsonNodesMax,
  numberDigitsMax: LIMITS.jsonNumberDigitsMax,
  keyBytesMax: LIMITS.jsonKeyBytesMax,
};

/** The config file as JSON. Throws a ConfigError. */
export function parseConfigFile(file: string): unknown {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > LIMITS.configFileBytesMax)
      throw new ConfigError([{ source: file, path: '', message: 'is too large' }]);
    return scanJson(bytes, FILE_JSON_LIMITS).value;
  } catch (error) {
    if (error instanceof JsonError) throw new ConfigError([{ source: file, path: error.path, message: error.message }]);
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    throw new ConfigError([{ source: file, path: '', message: `cannot be read (${code})` }]);
  }
}
