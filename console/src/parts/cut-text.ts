/** Texts that have their title from here, and not from the page that shows them. */
const titled = new WeakSet<HTMLElement>();

/** Whoever points at a text that is cut off, or moves the focus to it, can read all of it, in every table and legend. */
export function showCutTexts(): void {
  document.addEventListener('pointerover', ({ target }) => textsAround(target).forEach(show));
  document.addEventListener('pointerout', ({ target }) => textsAround(target).forEach(hide));
  document.addEventListener('focusin', ({ target }) => textsIn(target).forEach(show));
  document.addEventListener('focusout', ({ target }) => textsIn(target).forEach(hide));
}

function textsAround(target: EventTarget | null): HTMLElement[] {
  const text = target instanceof Element ? target.closest<HTMLElement>('.truncate') : null;
  return text === null ? [] : [text];
}

/** Rows, links and buttons have the focus, and the text inside them is cut. A dialog that has it would be read as a whole. */
function textsIn(target: EventTarget | null): HTMLElement[] {
  const isSmall = target instanceof Element && target.matches('a, button, tr');
  return [...textsAround(target), ...(isSmall ? target.querySelectorAll<HTMLElement>('.truncate') : [])];
}

function show(text: HTMLElement): void {
  hide(text);
  // The page itself says something there.
  if (text.closest('[title]') !== null || text.scrollWidth <= text.clientWidth) return;
  titled.add(text);
  text.title = text.textContent ?? '';
}

/** It may be another text the next time, or the window another size. */
function hide(text: HTMLElement): void {
  if (titled.delete(text)) text.removeAttribute('title');
}
