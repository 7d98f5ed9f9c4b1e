import { type JsonText, readJson } from '../json/json.ts';
import { HostResponseBroken } from './wire.ts';

export function parseResponse(body: Buffer): JsonText {
  try {
    return readJson(body);
  } catch {
    throw new HostResponseBroken("The host's response is not valid JSON.");
  }
}
