import type { ReactNode } from 'react';
import { Field, TextArea, TextInput } from '../../parts/field.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { parseTools } from './wires.ts';

export interface SettingsDraft {
  readonly system: string;
  readonly maxTokens: string;
  readonly temperature: string;
  readonly tools: string;
}

export const EMPTY_SETTINGS: SettingsDraft = { system: '', maxTokens: '', temperature: '', tools: '' };

const TOKENS_MAX = 9_999_999;

type SettingsFaults = Partial<Record<keyof SettingsDraft, string>>;

export function settingsFaults({ maxTokens, temperature, tools }: SettingsDraft): SettingsFaults {
  const parsedTools = parseTools(tools);
  const isEmptyOrFrom = (least: number, most: number, text: string): boolean =>
    text.trim() === '' || (Number(text) >= least && Number(text) <= most);
  const isLimit = /^\d*$/.test(maxTokens.trim()) && isEmptyOrFrom(1, TOKENS_MAX, maxTokens);
  return {
    ...(isLimit ? {} : { maxTokens: `A whole number from 1 to ${formatCount(TOKENS_MAX)}.` }),
    ...(isEmptyOrFrom(0, 2, temperature) ? {} : { temperature: 'A number from 0 to 2.' }),
    ...(typeof parsedTools === 'string' ? { tools: parsedTools } : {}),
  };
}

interface CallSettingsProps {
  readonly draft: SettingsDraft;
  readonly faults: SettingsFaults;
  readonly hasTools: boolean;
  onChange(draft: SettingsDraft): void;
}

const TOOLS_EXAMPLE = '[{ "name": "get_weather", "parameters": { "type": "object", … } }]';

const NUMBERS = [
  { name: 'maxTokens', label: 'Output limit', inputMode: 'numeric' },
  { name: 'temperature', label: 'Temperature', inputMode: 'decimal' },
] as const;

/** What is sent with every message. */
export function CallSettingsFields({ draft, faults, hasTools, onChange }: CallSettingsProps): ReactNode {
  const set = (name: keyof SettingsDraft) => (value: string) => onChange({ ...draft, [name]: value });
  return (
    <div className="flex flex-col gap-4">
      <Field label="System prompt">
        {(id) => <TextArea id={id} value={draft.system} onChange={set('system')} rows={4} />}
      </Field>
      <div className="flex gap-3">
        {NUMBERS.map(({ name, label, inputMode }) => (
          <Field key={name} label={label} error={faults[name] ?? null}>
            {(id) => (
              <TextInput id={id} value={draft[name]} onChange={set(name)} inputMode={inputMode} placeholder="default" />
            )}
          </Field>
        ))}
      </div>
      {hasTools ? (
        <Field
          label="Tools, as JSON"
          error={faults.tools ?? null}
          hint="The model can call them; you write the result as the next message."
        >
          {(id) => (
            <TextArea
              id={id}
              value={draft.tools}
              onChange={set('tools')}
              rows={5}
              spellCheck={false}
              placeholder={TOOLS_EXAMPLE}
              className="font-mono text-small"
            />
          )}
        </Field>
      ) : null}
    </div>
  );
}
