import type { ReactNode } from 'react';
import type { Receipt } from '../../api/generated/routes.ts';
import { formatCount, formatCounted, formatExact, formatNanousd, formatPrice } from '../../parts/money-format.ts';
import { type InvoiceLine, invoiceLines } from './invoice-lines.ts';

/** A receipt as an invoice: tokens times price for each component, and the sum. */
export function InvoiceLines({ receipt }: { readonly receipt: Receipt }): ReactNode {
  const lines = invoiceLines(receipt);
  const { cost_nanousd: cost, refunded_nanousd: refunded } = receipt;
  return (
    <table
      aria-label="What the call cost"
      className="w-full border-separate border-spacing-0 rounded-panel border border-line"
    >
      <tbody>
        {lines.map((line) => (
          <tr key={line.name}>
            <th scope="row" className="border-b border-line py-1.5 pl-3 text-left font-normal whitespace-nowrap">
              {line.name}
            </th>
            <td className="border-b border-line px-2 py-1.5 text-muted">{describeLine(line)}</td>
            <td className="border-b border-line py-1.5 pr-3 text-right">{formatExact(line.amount)}</td>
          </tr>
        ))}
        <tr className="bg-raised font-semibold">
          <th scope="row" className="rounded-bl-panel py-2 pl-3 text-left">
            {cost === null ? 'Not settled yet' : 'Charged'}
          </th>
          <td className="px-2 py-2 font-normal text-muted">{cost === null ? '' : formatNanousd(cost)}</td>
          <td className="rounded-br-panel py-2 pr-3 text-right">{cost === null ? '–' : formatExact(cost)}</td>
        </tr>
        {refunded === 0n ? null : (
          <tr>
            <th scope="row" className="py-2 pl-3 text-left font-normal">
              Refunded
            </th>
            <td />
            <td className="py-2 pr-3 text-right whitespace-nowrap">−{formatExact(refunded)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function describeLine({ tokens, pricePerMillion }: InvoiceLine): string {
  if (pricePerMillion === null) return formatCounted(tokens, 'token');
  return `${formatCount(tokens)} × ${formatPrice(pricePerMillion)} / M`;
}
