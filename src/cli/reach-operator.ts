import type { Config } from '../config/config.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { Clock, Timer } from '../kit/clock.ts';
import { pause } from '../kit/pause.ts';
import { LIMITS } from '../limits.ts';
import type { OperatorServices, Progress, VerbInput, VerbName, VerbResult } from '../operator/operator.ts';
import type { Composition, Holder, OpenServices } from './composition.ts';
import { unreachable } from './failure.ts';
import { callServer, type OperatorServer, SocketAbandoned } from './operator-client.ts';
import { readOperatorJson } from './operator-json.ts';

/** An answer as JSON text for scripts, and parsed. */
export interface VerbAnswer<Name extends VerbName> {
  readonly text: string;
  readonly result: VerbResult<Name>;
}

/** Runs the operator's verbs, in the server or in this process; answers pass through JSON either way. */
export interface Operator {
  /** The server that runs them; null if this command opened the store itself. */
  readonly server: Holder | null;
  run<Name extends VerbName>(name: Name, input: VerbInput<Name>, progress?: Progress): Promise<VerbAnswer<Name>>;
}

interface ReachOptions {
  /** Whether the command may create a ledger; otherwise a folder without one, which may be a typing error, is refused. */
  readonly mayCreate: boolean;
}

/** Sends verbs to the server that has the folder, or opens the store in this process if there is none. */
export async function withOperator<Result>(
  composition: Composition,
  config: Config,
  { mayCreate }: ReachOptions,
  use: (operator: Operator) => Promise<Result>,
): Promise<Result> {
  if (!mayCreate && config.store === null && !composition.hasLedger(config.dataFolder))
    throw noBooks(config.dataFolder);
  let holder: Holder | null = null;
  for (let attempt = 0; attempt < LIMITS.folderAttemptsMax; attempt++) {
    if (attempt > 0) await pause(composition.clock, LIMITS.folderRetryMs);
    const opened = await composition.openServices(config);
    if (!('heldBy' in opened)) return useOpened(opened, use);
    holder = opened.heldBy;
    // Another command has the folder for a moment, or a server is starting or stopping: try again.
    if (holder === null || holder.socketPath === null) continue;
    try {
      return await use(throughServer(holder, serverOf(composition.clock, config, holder, holder.socketPath)));
    } catch (error) {
      if (!(error instanceof SocketAbandoned)) throw error;
    }
  }
  throw heldAllTheTime(config.dataFolder, holder);
}

async function useOpened<Result>(opened: OpenServices, use: (operator: Operator) => Promise<Result>): Promise<Result> {
  try {
    return await use(inProcess(opened.services));
  } finally {
    await opened.close();
  }
}

function inProcess(services: OperatorServices): Operator {
  return {
    server: null,
    async run(name, input, progress) {
      // Loaded on demand, because a command that reaches a server does not need it.
      const { runVerb } = await import('../operator/operator.ts');
      return answer(stringifyJson(await runVerb(services, name, input, progress)));
    },
  };
}

function serverOf(clock: Clock, { dataFolder }: Config, { pid }: Holder, socketPath: string): OperatorServer {
  return { socketPath, clock, name: `The server, process ${pid}, which has ${dataFolder} open,` };
}

function throughServer(holder: Holder, server: OperatorServer): Operator {
  return {
    server: holder,
    async run(name, input, progress) {
      const watch = progress === undefined ? null : watchProgress(server, name, progress);
      try {
        return answer(await callServer(server, name, input));
      } finally {
        watch?.cancel();
      }
    },
  };
}

/** Asks the server every second how far it is. A server that does not say so does the work nevertheless. */
function watchProgress(server: OperatorServer, verb: VerbName, progress: Progress): { cancel(): void } {
  const ask = async (): Promise<void> => {
    const text = await callServer(server, 'progress.show', { verb } satisfies VerbInput<'progress.show'>);
    const { rows_read, rows_total } = answer<'progress.show'>(text).result;
    if (isEnded || rows_read === null || rows_total === null) return;
    progress({ rowsRead: Number(rows_read), rowsTotal: Number(rows_total) });
  };
  let isEnded = false;
  const later = (): Timer => server.clock.after(LIMITS.operatorProgressMs, again, { unref: true });
  let timer = later();
  function again(): void {
    void ask()
      .catch(() => undefined)
      .then(() => {
        if (!isEnded) timer = later();
      });
  }
  return {
    cancel: () => {
      isEnded = true;
      timer.cancel();
    },
  };
}

function answer<Name extends VerbName>(text: string): VerbAnswer<Name> {
  return { text, result: readOperatorJson(text) as VerbResult<Name> };
}

function noBooks(folder: string): Error {
  return unreachable(
    `There is no ledger in ${folder} yet.`,
    'run "tollgate serve" once, or name the right folder with --data',
  );
}

function heldAllTheTime(folder: string, holder: Holder | null): Error {
  const who = holder === null ? 'An unknown process' : `Process ${holder.pid}`;
  return unreachable(`${who} has ${folder} open and does not answer on a control socket.`, 'tollgate doctor');
}
