import type { Session } from './session.ts';
import { shorten, width } from './table.ts';

const BAR_CHARACTERS = 30;
/** A shorter bar shows nothing. */
const BAR_CHARACTERS_MIN = 5;

/** Progress of long work: a bar on a terminal, otherwise a line for every tenth. */
export class ProgressLine {
  readonly #session: Session;
  readonly #isLive: boolean;
  #said = '';

  constructor(session: Session) {
    this.#session = session;
    this.#isLive = session.composition.terminal.isLive === true;
  }

  tell(what: string, done: number, total: number, unit = 'rows'): void {
    if (this.#session.json) return;
    const part = total === 0 ? 1 : Math.min(done / total, 1);
    const words = this.#isLive ? this.#bar(what, part, done, total, unit) : tenth(what, part, total, unit);
    if (words === this.#said) return;
    this.#said = words;
    const { writeErr } = this.#session.composition.terminal;
    if (this.#isLive) writeErr(`\r\u001b[2K${words}`);
    else if (words !== '') writeErr(`${words}\n`);
  }

  /** Clears the bar, so that the next message has the line to itself. */
  end(): void {
    if (this.#isLive && this.#said !== '') this.#session.composition.terminal.writeErr('\r\u001b[2K');
    this.#said = '';
  }

  /** It must fit into one line: of a longer one, only the last line would be overwritten. */
  #bar(what: string, part: number, done: number, total: number, unit: string): string {
    const words = `${Math.floor(part * 100)} %  ${what}, ${done} of ${total} ${unit}`;
    const columns = (this.#session.composition.terminal.columns?.() || Number.POSITIVE_INFINITY) - 1;
    const characters = Math.min(BAR_CHARACTERS, columns - width(words) - 1);
    if (characters < BAR_CHARACTERS_MIN) return shorten(words, columns);
    const full = Math.round(part * characters);
    return `${'█'.repeat(full)}${'░'.repeat(characters - full)} ${words}`;
  }
}

function tenth(what: string, part: number, total: number, unit: string): string {
  const tenths = Math.floor(part * 10);
  return tenths === 0 ? '' : `${what}: ${tenths * 10} % of ${total} ${unit}`;
}
