import { createHash } from 'node:crypto';

/** Probabilities of several outcomes; they add up to 1. */
export interface Likelihood {
  readonly shares: readonly number[];
  /** Position of the most likely outcome. */
  readonly best: number;
  /** 0 if all are equally likely, 1 if one is certain. */
  readonly confidence: number;
  /** The mean position, weighted by probability. */
  readonly expected: number;
}

const UNIT = 10_000;

/** Invented, but the same for the same subject and outcomes. */
export function estimate(subject: string, outcomes: readonly string[]): Likelihood {
  const units = divide(outcomes.map((outcome) => weigh(subject, outcome)));
  const best = units.indexOf(Math.max(...units));
  return {
    shares: units.map((unit) => unit / UNIT),
    best,
    confidence: rounded((units.length * (units[best]! / UNIT) - 1) / (units.length - 1)),
    expected: rounded(units.reduce((sum, unit, position) => sum + position * unit, 0) / UNIT),
  };
}

/** A high power separates the most likely outcome from the others. */
function weigh(subject: string, outcome: string): number {
  const digest = createHash('sha256').update(subject).update('\n').update(outcome).digest();
  return (digest.readUInt32LE(0) / 2 ** 32) ** 4 + 0.01;
}

/** Whole units in proportion to the weights; the rounding remainder goes to the largest. */
function divide(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const units = weights.map((weight) => Math.floor((weight / total) * UNIT));
  const left = UNIT - units.reduce((sum, unit) => sum + unit, 0);
  const largest = units.indexOf(Math.max(...units));
  units[largest]! += left;
  return units;
}

function rounded(value: number): number {
  return Math.round(value * UNIT) / UNIT;
}
