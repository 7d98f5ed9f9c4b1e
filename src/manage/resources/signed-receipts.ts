import { z } from 'zod';
import { route, VIEWER } from '../route.ts';
import { EXAMPLE_IDS } from '../schema-fields.ts';

const jws = {
  payload: z.string().describe('JSON in base64url.'),
  protected: z.string().describe('The protected header in base64url: `alg`, `kid` and `typ`.'),
  signature: z.string(),
};

const path = z
  .array(z.union([z.object({ left: z.string() }), z.object({ right: z.string() })]))
  .readonly()
  .describe('The sibling hashes on the path to the root.');

const proof = z.object({
  month: z.string(),
  receipts: z.string(),
  spent_nanousd: z.string(),
  salt: z.string(),
  receipt_path: path,
  account_path: path,
  root: z.object(jws),
});

export const signedReceipt = z
  .object({ ...jws, proof: proof.exactOptional().describe('Only if `proof` was asked for.') })
  .meta({ id: 'SignedReceipt' });

export const SIGNED_RECEIPTS_ROUTES = [
  route({
    method: 'GET',
    path: '/receipts/{receipt}/signed',
    verb: 'receipts.sign',
    access: VIEWER,
    scope: 'receipt',
    membersOwn: 'receipt',
    summary:
      'A signed receipt, which can be kept and verified; with `proof=true` also its proof, if the receipt is closed.',
    response: signedReceipt,
    example: {
      input: { receipt: EXAMPLE_IDS.receipt },
      output: { payload: 'eyJib29rcyI6…', protected: 'eyJhbGciOiJFZERTQSIs…', signature: 'Q2x3aV…' },
    },
  }),
];
