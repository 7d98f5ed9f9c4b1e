import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { type Quote, quoteCall } from '../../api/gateway-call.ts';
import type { Model } from '../../api/generated/routes.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Field, TextArea, TextInput } from '../../parts/field.tsx';
import { Money } from '../../parts/money.tsx';
import { usePayingKeys } from '../../shell/paying-keys.ts';
import { parseTokens } from './price-of.ts';

/** What the gateway would hold for a prompt, and what it will probably cost. Nothing is called. */
export function PromptQuote({ model }: { readonly model: Model }): ReactNode {
  const [prompt, setPrompt] = useState('');
  const [limit, setLimit] = useState('');
  const { keys, isRequired, isPending, error } = usePayingKeys();
  const [payer] = keys;
  const keyId = isRequired ? (payer?.id ?? null) : null;
  const maxTokens = parseTokens(limit);
  const quote = useMutation<Quote, Error>({
    mutationFn: () =>
      quoteCall({ model: model.id, text: prompt, keyId, maxTokens: limit.trim() === '' ? null : maxTokens }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    quote.mutate();
  };
  if (isRequired && error !== null) return <FormError error={error} />;
  if (isRequired && payer === undefined && !isPending)
    return <p className="text-muted">A quote needs a key that would pay for the call. Mint one first.</p>;
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Field label="Prompt">
        {(id) => <TextArea id={id} value={prompt} onChange={setPrompt} rows={3} placeholder="Paste a prompt" />}
      </Field>
      <div className="flex items-end gap-3">
        <Field label="Output limit" error={maxTokens === null ? 'A whole number.' : null}>
          {(id) => (
            <TextInput
              id={id}
              value={limit}
              onChange={setLimit}
              inputMode="numeric"
              placeholder={String(model.max_output_tokens)}
            />
          )}
        </Field>
        <Button
          type="submit"
          busy={quote.isPending}
          disabled={prompt === '' || maxTokens === null || (isRequired && payer === undefined)}
          className="!h-8 self-end"
        >
          Get a quote
        </Button>
      </div>
      <FormError error={quote.error} />
      {quote.data === undefined ? null : <QuoteFacts quote={quote.data} />}
    </form>
  );
}

function QuoteFacts({ quote }: { readonly quote: Quote }): ReactNode {
  const { fits } = quote;
  const missing = [
    ...(fits.ceiling ? [] : ['the ceiling of the call']),
    ...(fits.cap ? [] : ['the cap']),
    ...(fits.balance ? [] : ['the balance']),
  ];
  return (
    <Facts
      facts={[
        ['Probably costs', <Money key="likely" as="cost" nanousd={quote.likely_nanousd} />],
        ['Worst case', <Money key="worst" as="cost" nanousd={quote.worst_case_nanousd} />],
        [
          'Fits',
          missing.length === 0 ? (
            <Chip key="fits" tone="good">
              yes, the call would run
            </Chip>
          ) : (
            <Chip key="fits" tone="error">
              no: above {missing.join(' and ')}
            </Chip>
          ),
        ],
      ]}
    />
  );
}
