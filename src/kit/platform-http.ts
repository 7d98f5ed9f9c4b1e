/**
 * Node's HTTP functions, without an `import`: that reads every export of the module, and some of them load a second HTTP
 * client, which would take 40 ms of every start.
 */
export const { createServer, request, STATUS_CODES, validateHeaderName, validateHeaderValue } =
  process.getBuiltinModule('node:http');
