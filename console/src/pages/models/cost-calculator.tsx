import { type ReactNode, useState } from 'react';
import type { Model } from '../../api/generated/routes.ts';
import { Field, TextInput } from '../../parts/field.tsx';
import { formatCount, formatExact, formatNanousd, formatPrice } from '../../parts/money-format.ts';
import { useFilters } from '../../shell/search.ts';
import { costLines, parseTokens } from './price-of.ts';

/** What a call with this many tokens costs, to the nanodollar. The counts are in the address. */
export function CostCalculator({ model }: { readonly model: Model }): ReactNode {
  const { search, change } = useFilters();
  const [texts, setTexts] = useState({
    fresh: search.in ?? '1,000',
    cached: search.cached ?? '',
    output: search.out ?? '500',
  });
  const set = (name: keyof typeof texts, address: string) => (value: string) => {
    setTexts((before) => ({ ...before, [name]: value }));
    change({ [address]: value }, { replace: true });
  };
  const [fresh, cached, output] = [texts.fresh, texts.cached, texts.output].map(parseTokens);
  const isEmbedding = model.embedding !== undefined;
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-3 gap-3">
        <TokenField label="Fresh input" value={texts.fresh} fault={fresh === null} onChange={set('fresh', 'in')} />
        {isEmbedding ? null : (
          <>
            <TokenField
              label="Cached"
              value={texts.cached}
              fault={cached === null}
              onChange={set('cached', 'cached')}
            />
            <TokenField label="Output" value={texts.output} fault={output === null} onChange={set('output', 'out')} />
          </>
        )}
      </div>
      {fresh == null || cached == null || output == null ? null : (
        <CostTable model={model} fresh={fresh} cached={isEmbedding ? 0 : cached} output={isEmbedding ? 0 : output} />
      )}
    </div>
  );
}

function TokenField(props: {
  readonly label: string;
  readonly value: string;
  readonly fault: boolean;
  onChange(value: string): void;
}): ReactNode {
  const { label, value, fault, onChange } = props;
  return (
    <Field label={label} error={fault ? 'A whole number.' : null} hint="tokens">
      {(id) => <TextInput id={id} value={value} onChange={onChange} inputMode="numeric" placeholder="0" />}
    </Field>
  );
}

interface CostTableProps {
  readonly model: Model;
  readonly fresh: number;
  readonly cached: number;
  readonly output: number;
}

function CostTable({ model, ...tokens }: CostTableProps): ReactNode {
  const lines = costLines(model, tokens);
  const total = lines.reduce((sum, { amount }) => sum + amount, 0n);
  const isTooLong = tokens.fresh + tokens.cached + tokens.output > model.context_window;
  return (
    <>
      <table
        aria-label="What such a call costs"
        className="w-full border-separate border-spacing-0 rounded-panel border border-line"
      >
        <tbody>
          {lines.map(({ name, tokens: count, pricePerMillion, amount }) => (
            <tr key={name}>
              <th scope="row" className="border-b border-line py-1.5 pl-3 text-left font-normal whitespace-nowrap">
                {name}
              </th>
              <td className="border-b border-line px-2 py-1.5 text-muted">
                {formatCount(count)} × {formatPrice(pricePerMillion)} / M
              </td>
              <td className="border-b border-line py-1.5 pr-3 text-right">{formatExact(amount)}</td>
            </tr>
          ))}
          <tr className="bg-raised font-semibold">
            <th scope="row" className="rounded-bl-panel py-2 pl-3 text-left">
              Costs
            </th>
            <td className="px-2 py-2 font-normal text-muted">{formatNanousd(total)}</td>
            <td className="rounded-br-panel py-2 pr-3 text-right">{formatExact(total)}</td>
          </tr>
        </tbody>
      </table>
      {isTooLong ? (
        <p className="text-small text-warning">
          These are more tokens than the context window of {formatCount(model.context_window)}: the call would be
          refused.
        </p>
      ) : null}
    </>
  );
}
