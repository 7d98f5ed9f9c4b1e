/** Digits of an exact amount, as nanodollars. */
export function nanousdIn(text: string | null): bigint {
  return BigInt((text ?? '').replaceAll(/\D/g, ''));
}
