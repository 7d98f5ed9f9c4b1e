import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  use,
  useId,
} from 'react';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | null;
  /** Gives the control its id. */
  children(id: string): ReactNode;
}

/** What a screen reader says of a control besides its label. */
type Notes = Pick<InputHTMLAttributes<HTMLElement>, 'aria-describedby' | 'aria-invalid'>;

/** Attributes for the control inside a `Field`. */
const NotesContext = createContext<Notes>({});

/** A control with its label above it and a hint or an error below. */
export function Field({ label, hint, error = null, children }: FieldProps): ReactNode {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = error !== null || hint !== undefined;
  const notes: Notes = {
    ...(hasNote ? { 'aria-describedby': noteId } : {}),
    ...(error === null ? {} : { 'aria-invalid': true }),
  };
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      <NotesContext value={notes}>{children(id)}</NotesContext>
      {error === null ? null : (
        <p id={noteId} role="alert" className="text-small text-error">
          {error}
        </p>
      )}
      {hint === undefined || error !== null ? null : (
        <p id={noteId} className="text-small text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}

const CONTROL = 'w-full rounded-control border border-field bg-panel px-2.5 text-body text-text disabled:opacity-60';

interface TextInputProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  readonly value: string;
  readonly ref?: Ref<HTMLInputElement>;
  onChange(value: string): void;
}

export function TextInput({ onChange, className = '', ...rest }: TextInputProps): ReactNode {
  return (
    <input
      type="text"
      {...use(NotesContext)}
      {...rest}
      onChange={(event) => onChange(event.target.value)}
      className={`${CONTROL} h-8 ${className}`}
    />
  );
}

interface TextAreaProps extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange' | 'value'> {
  readonly value: string;
  onChange(value: string): void;
}

export function TextArea({ onChange, className = '', ...rest }: TextAreaProps): ReactNode {
  return (
    <textarea
      {...use(NotesContext)}
      {...rest}
      onChange={(event) => onChange(event.target.value)}
      className={`${CONTROL} min-h-20 py-1.5 ${className}`}
    />
  );
}

export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

interface SelectProps<Value extends string>
  extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange' | 'value'> {
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  onChange(value: Value): void;
}

/** The browser's own select: it works with every keyboard, screen reader and phone. */
export function Select<Value extends string>({
  choices,
  onChange,
  className = '',
  ...rest
}: SelectProps<Value>): ReactNode {
  return (
    <select
      {...use(NotesContext)}
      {...rest}
      onChange={(event) => onChange(event.target.value as Value)}
      className={`${CONTROL} h-8 ${className}`}
    >
      {choices.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

interface CheckboxProps {
  readonly label: ReactNode;
  readonly checked: boolean;
  readonly disabled?: boolean;
  onChange(checked: boolean): void;
}

export function Checkbox({ label, checked, disabled = false, onChange }: CheckboxProps): ReactNode {
  return (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4 accent-accent"
      />
      {label}
    </label>
  );
}
