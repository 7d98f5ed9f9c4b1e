import type { ScriptedTurn } from '../../src/sim/script.ts';

/** Where an agent runs, and what it is given. */
export interface Scratch {
  /** Its home folder, empty but for what `prepare` and `tollgate setup` write. */
  readonly home: string;
  /** The folder it works in: a git repository with `notes.txt`. */
  readonly work: string;
  readonly key: string;
}

/** A client that is run as its users run it, with the settings that `tollgate setup` writes. */
export interface Agent {
  /** As `tollgate setup` names it. */
  readonly name: string;
  readonly from: 'npm' | 'pip';
  readonly package: string;
  readonly version: string;
  /** The program, in the folder where the package is installed. */
  readonly program: string;
  /** The simulated model that it calls, if not the usual one. */
  readonly model?: string;
  /** Its opt-outs from telemetry, updates and other calls home, and how it gets its key. */
  env(scratch: Scratch): Record<string, string>;
  /** Settings that are there before `tollgate setup`, which has to keep them: a path below home, and the text. */
  readonly prepared?: Readonly<Record<string, string>>;
  /** The command lines of its task, run one after the other. */
  commands(scratch: Scratch): readonly (readonly string[])[];
  /** What the simulated model says, turn by turn, after the first user message with this text. */
  readonly turnsAfter: string;
  turns(scratch: Scratch): readonly ScriptedTurn[];
  /** What is missing in the folder or in the output; null if the task is done. */
  findFault(scratch: Scratch, output: string): string | null;
}

export const KEY_VARIABLE = 'TOLLGATE_API_KEY';
