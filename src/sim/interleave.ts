/** Streams choices in turns, as the vendor does. */
export function interleave<Step>(choices: readonly Step[][]): readonly Step[] {
  if (choices.length === 1) return choices[0]!;
  const longest = Math.max(...choices.map((steps) => steps.length));
  const turns: Step[] = [];
  for (let turn = 0; turn < longest; turn++) {
    for (const steps of choices) if (turn < steps.length) turns.push(steps[turn]!);
  }
  return turns;
}
