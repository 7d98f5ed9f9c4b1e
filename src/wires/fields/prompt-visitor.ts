import type { PromptSize } from '../../canonical/prompt-size.ts';
import type { Members } from './members.ts';

/** What a prompt's walk finds; every text passes through here, so that weighing and counting never disagree. */
export interface PromptVisitor {
  text(text: string): void;
  toolText(text: string): void;
  /** The path of the image, for the message that refuses it. */
  image(path: string): void;
}

/** A prompt's weight in bytes while it is being added up. */
export class PromptMeasure implements PromptVisitor {
  #textBytes = 0;
  #toolBytes = 0;
  #images = 0;
  firstImage: string | null = null;

  text(text: string): void {
    this.#textBytes += Buffer.byteLength(text);
  }

  toolText(text: string): void {
    this.#toolBytes += Buffer.byteLength(text);
  }

  image(path: string): void {
    this.#images++;
    this.firstImage ??= path;
  }

  /** Schemas weigh as they stand in the body: writing them anew only to weigh them would cost a second pass. */
  schemaBytes(bytes: number): void {
    this.#toolBytes += bytes;
  }

  size(messages: number, tools: number): PromptSize {
    return {
      textBytes: this.#textBytes,
      toolBytes: this.#toolBytes,
      messages,
      tools,
      images: this.#images,
      tokenIds: 0,
    };
  }
}

/** A host may put into the prompt what we know nothing about, so it weighs whatever is written there. */
export function visitUnknown(value: unknown, visitor: PromptVisitor): void {
  if (typeof value === 'string') visitor.text(value);
  else if (typeof value === 'object' && value !== null) visitor.text(JSON.stringify(value));
}

/** The members of a part that its wire knows nothing about; the known ones were weighed, or no model reads them. */
export function visitRest(holder: Members, known: ReadonlySet<string>, visitor: PromptVisitor): void {
  for (const name of Object.keys(holder)) if (!known.has(name)) visitUnknown(holder[name], visitor);
}

/** Gathers the texts instead of weighing them, for the rare exact count. */
export class PromptTexts implements PromptVisitor {
  readonly found: string[] = [];

  text(text: string): void {
    this.found.push(text);
  }

  toolText(): void {}

  image(): void {}
}
