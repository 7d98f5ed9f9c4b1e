const BRACKETS = /["\\{}[\]]/g;

/** Follows the arguments of a tool call as they arrive, and tells when they are one whole JSON object or list. */
export class WholeArguments {
  #depth = 0;
  #begun = false;
  #inString = false;
  /** The next character follows a backslash. */
  #escaped = false;

  get areWhole(): boolean {
    return this.#begun && this.#depth === 0;
  }

  add(text: string): void {
    BRACKETS.lastIndex = this.#escaped ? 1 : 0;
    if (text !== '') this.#escaped = false;
    for (let found = BRACKETS.exec(text); found !== null; found = BRACKETS.exec(text)) {
      if (this.#inString) this.#inside(found[0], text.length);
      else this.#outside(found[0]);
    }
  }

  #inside(character: string, length: number): void {
    if (character === '"') this.#inString = false;
    if (character !== '\\') return;
    this.#escaped = BRACKETS.lastIndex === length;
    BRACKETS.lastIndex++;
  }

  #outside(character: string): void {
    if (character === '"') this.#inString = true;
    else if (character === '{' || character === '[') {
      this.#begun = true;
      this.#depth++;
    } else if (character !== '\\') this.#depth--;
  }
}
