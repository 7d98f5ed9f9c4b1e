import { expect, test } from 'vitest';
import { readQuery } from './query-parameters.ts';

test.each([
  ['since=1&zzz=2', ['since', 'until'], '`zzz` is unknown. Use since, until.'],
  ['zzz=2', [], '`zzz` is unknown. This route takes no parameters.'],
  ['%0A=2', ['since'], 'A query parameter is unknown. Use since.'],
  ['since=1&since=2', ['since'], '`since` must be sent once.'],
])('refuses the query %j of a route with the parameters %j', (query, parameters, message) => {
  expect(() => readQuery(query, parameters)).toThrow(message);
});
