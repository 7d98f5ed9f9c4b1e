export class JsonError extends Error {
  override readonly name = 'JsonError';
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonError(error instanceof Error ? error.message : 'This is not JSON.', { cause: error });
  }
}

/** For text that may well not be JSON; undefined is no JSON value, so it means "it was not". */
export function tryParseJson(text: string): unknown | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
