import { describeUnknownVariable } from '../../config/unknown-variables.ts';
import type { CommandSpec } from '../command.ts';

/** Options of every command that reads the server's settings. */
export const SERVER_OPTIONS = [
  ['--port <port>', 'port to listen on (8080)'],
  ['--host <address>', 'address to listen on (127.0.0.1); any address but loopback needs --hosted'],
  ['--hosted', 'serve other people: every call needs a key'],
  ['--public-url <url>', 'address under which people reach the gateway; links begin with it'],
  ['--trusted-proxies <networks>', 'proxies whose X-Forwarded-For names the client, separated by commas', 'list'],
  ['--allowed-hosts <names>', 'Host headers to accept besides localhost, separated by commas', 'list'],
  ['--origins <origins>', 'web origins that may call, separated by commas', 'list'],
  ['--operations-host <address>', 'address of health and metrics in hosted mode (127.0.0.1)'],
  ['--operations-port <port>', 'port of health and metrics in hosted mode (9464)'],
  ['--console-port <port>', 'port of the management API (the port that callers use)'],
  ['--no-console', 'do not serve the management API'],
  ['--log-level <level>', 'debug, info, warn, error or silent (info)'],
  ['--transport <name>', 'HTTP code to use: own or node (own)'],
  ['--workers <count>', 'threads that serve calls: a number or auto, one less than the number of cores (auto)'],
  ['--no-frame-memory', 'parse every frame of a stream, even if it repeats an earlier one'],
  ['--sim', 'offer the simulated models in hosted mode even if there is a real host'],
  ['--no-sim', 'do not offer the simulated models'],
  ['--no-local-hosts', 'do not look for model servers on the usual ports of this machine'],
] as const;

export const serveCommand: CommandSpec = {
  name: 'serve',
  summary: 'start the gateway',
  options: SERVER_OPTIONS,
  examples: ['tollgate serve', 'tollgate serve --port 9000 --data ./data', 'tollgate serve --hosted --host 0.0.0.0'],
  run(session) {
    const reloadConfig = () => session.config('read');
    const config = reloadConfig();
    for (const variable of config.unknownVariables) session.say(`Warning: ${describeUnknownVariable(variable)}.`);
    return session.composition.serve(config, { json: session.json, reloadConfig });
  },
};
