const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const CLOSE_BRACE = 0x7d;
const LF = 0x0a;
const SHORT_ESCAPES = new Set(Buffer.from('"\\/bfnrt'));

/** The delta type of each block type, and the member with its text. */
const WORDS: Readonly<Record<string, readonly [type: string, member: string]>> = {
  text: ['text_delta', 'text'],
  thinking: ['thinking_delta', 'thinking'],
  tool_use: ['input_json_delta', 'partial_json'],
};

/**
 * The bytes around the text of a delta, as the vendor writes it. Nearly every frame of a stream has them, and then its
 * text is found without parsing. Any other spelling is left to the parser.
 */
export class DeltaShape {
  readonly #before: Buffer;
  #end = 0;
  #escapes = 0;

  constructor(index: number, type: string, member: string) {
    const data = `{"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${member}":"`;
    const before = `event: content_block_delta\ndata: ${data}`;
    // In memory of its own: a stream keeps it, and with a small buffer the whole block that it shares with others.
    this.#before = Buffer.allocUnsafeSlow(before.length);
    this.#before.write(before, 'latin1');
  }

  matches(raw: Buffer): boolean {
    const before = this.#before;
    if (raw.length <= before.length || raw.compare(before, 0, before.length, 0, before.length) !== 0) return false;
    return this.#findEnd(raw, before.length) && endsFrame(raw, this.#end + 1);
  }

  /** UTF-8 bytes of the text of the last match, without JSON escapes. */
  get wordBytes(): number {
    return this.#end - this.#before.length - this.#escapes;
  }

  /** Its text as JSON, with the quotes. */
  wordsJson(raw: Buffer): string {
    return raw.toString('utf8', this.#before.length - 1, this.#end + 1);
  }

  /** Stops at anything that only the parser handles. */
  #findEnd(raw: Buffer, start: number): boolean {
    this.#escapes = 0;
    for (let at = start; at < raw.length; at++) {
      const byte = raw[at]!;
      if (byte === QUOTE) {
        this.#end = at;
        return true;
      }
      if (byte < SPACE) return false;
      if (byte !== BACKSLASH) continue;
      if (!SHORT_ESCAPES.has(raw[++at]!)) return false;
      this.#escapes++;
    }
    return false;
  }
}

/** Two braces, with the spaces between them that this vendor adds as padding. */
function endsFrame(raw: Buffer, start: number): boolean {
  if (raw[start] !== CLOSE_BRACE) return false;
  let at = start + 1;
  while (raw[at] === SPACE) at++;
  return raw[at] === CLOSE_BRACE && raw[at + 1] === LF && raw[at + 2] === LF && at + 3 === raw.length;
}

/** Null for blocks whose text is not counted. */
export function deltaShape(index: unknown, blockType: unknown): DeltaShape | null {
  if (typeof index !== 'number' || typeof blockType !== 'string' || !Object.hasOwn(WORDS, blockType)) return null;
  const [type, member] = WORDS[blockType]!;
  return new DeltaShape(index, type, member);
}
