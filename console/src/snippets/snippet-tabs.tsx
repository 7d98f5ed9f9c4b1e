import { type ReactNode, useState } from 'react';
import { CodeBlock } from '../parts/copy.tsx';
import { type SnippetTerms, snippetsFor } from './snippets.ts';

/** One snippet at a time, chosen by the client's name. */
export function SnippetTabs(terms: SnippetTerms): ReactNode {
  const snippets = snippetsFor(terms);
  const [chosen, setChosen] = useState(snippets[0]!.name);
  const { text } = snippets.find(({ name }) => name === chosen) ?? snippets[0]!;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <fieldset aria-label="Client" className="flex flex-wrap gap-1">
        {snippets.map(({ name }) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === chosen}
            onClick={() => setChosen(name)}
            className={`h-6 rounded-chip px-2 text-small ${name === chosen ? 'bg-raised font-medium text-text' : 'text-muted hover:text-text'}`}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <CodeBlock text={text} label="Copy the snippet" />
    </div>
  );
}
