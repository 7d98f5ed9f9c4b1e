/** Texts that have their title from here, and not from the page that shows them. */
const titled = new WeakSet<HTMLElement>();

/** Whoever points at a text that is cut off can read all of it, in every table and legend. */
export function showCutTexts(): void {
  document.addEventListener('pointerover', ({ target }) => {
    const text = target instanceof Element ? target.closest<HTMLElement>('.truncate') : null;
    if (text === null || (text.title !== '' && !titled.has(text))) return;
    titled.add(text);
    // It may be another text by now, or the window another size.
    if (text.scrollWidth > text.clientWidth) text.title = text.textContent ?? '';
    else text.removeAttribute('title');
  });
}
