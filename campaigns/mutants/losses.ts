import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `losses: ${name}`, changes: [{ file, find, replace }], tests };
}

/** Faults by which callers could cost the operator more than their allowance, or lose a limit that they set. */
export const LOSS_MUTANTS: readonly Mutant[] = [
  mutant(
    'hosts cancelled without asking the allowance',
    'src/gateway/exchange.ts',
    'const isUnlimited = limitNanousd === null ||',
    'const isUnlimited = limitNanousd !== null || limitNanousd === null ||',
    'src/gateway/hangups-after-content.test.ts',
  ),
  mutant(
    'a cut stream that draws its whole hold on the allowance',
    'src/store/rules/money-rules.ts',
    'nanousd ?? receipt.heldNanousd',
    'receipt.heldNanousd',
    'src/gateway/hangups-after-content.test.ts',
  ),
  mutant(
    'documents of one size',
    'src/money/estimate-tokens.ts',
    'return Math.min(Math.max(tokens, PAGED_TOKENS_MIN), PAGED_TOKENS_MAX);',
    'return Math.min(tokens, PAGED_TOKENS_MIN);',
    'src/money/bound-tokens.test.ts',
  ),
  mutant(
    'limits in camel case dropped on request',
    'src/wires/fields/essential-fields.ts',
    "'$1_$2'",
    "'$1$2'",
    'src/wires/fields/essential-fields.test.ts',
  ),
  mutant(
    'limits inside a vendor’s object dropped on request',
    'src/wires/fields/essential-fields.ts',
    'if (!isObject(value)) return null;',
    "if (!isObject(value) || name !== '') return null;",
    'src/wires/fields/essential-fields.test.ts',
  ),
];
