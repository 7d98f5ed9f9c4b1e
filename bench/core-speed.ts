import { announce } from './child.ts';

/** A fixed computation on the core that is measured: its time says how fast the core is at that moment. */
const STEPS = 2_000_000;

function compute(): number {
  let value = 1;
  for (let step = 0; step < STEPS; step++) value = (Math.imul(value, 1_664_525) + 1_013_904_223) >>> 0;
  return value;
}

// Compiled before the first measurement.
for (let time = 0; time < 20; time++) compute();

process.on('message', () => {
  const start = performance.now();
  compute();
  process.send!(performance.now() - start);
});
announce({});
