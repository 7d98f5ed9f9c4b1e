import { inspect } from 'node:util';

const CONCEALED = '[secret]';

/** Text that must not reach a log, an error or a JSON body by accident; only `reveal` returns it. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return CONCEALED;
  }

  toJSON(): string {
    return CONCEALED;
  }

  [inspect.custom](): string {
    return CONCEALED;
  }
}
