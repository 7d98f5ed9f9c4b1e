import { type FormEvent, type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import type { ToolCall } from './wire.ts';

interface ComposerProps {
  readonly isRunning: boolean;
  /** Calls that the model waits for: the text is their result. */
  readonly awaited: readonly ToolCall[];
  readonly canAttach: boolean;
  /** Why nothing can be sent now; null if it can. */
  readonly obstacle: string | null;
  onSend(text: string, images: readonly string[]): void;
  onStop(): void;
}

const IMAGE_BYTES_MAX = 5_000_000;

/** The field for the next message. Enter sends it, Shift+Enter begins a new line. */
export function Composer({ isRunning, awaited, canAttach, obstacle, onSend, onStop }: ComposerProps): ReactNode {
  const [text, setText] = useState('');
  const [images, setImages] = useState<readonly string[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const canSend = !isRunning && obstacle === null && (text.trim() !== '' || images.length > 0);
  const send = (event: FormEvent | KeyboardEvent): void => {
    event.preventDefault();
    if (!canSend) return;
    onSend(text, images);
    setText('');
    setImages([]);
  };
  const attach = async (files: FileList | null): Promise<void> => {
    const chosen = [...(files ?? [])];
    const large = chosen.find(({ size }) => size > IMAGE_BYTES_MAX);
    setFault(large === undefined ? null : `${large.name} is larger than 5 MB.`);
    if (large !== undefined) return;
    try {
      const urls = await Promise.all(chosen.map(readDataUrl));
      // Each once: an image is removed by its URL.
      setImages((before) => [...new Set([...before, ...urls])]);
    } catch {
      setFault('An image cannot be read. Choose it again.');
    }
  };
  const label = awaited.length === 0 ? 'Message' : `Result of ${awaited.map(({ name }) => name).join(', ')}`;
  return (
    <form
      onSubmit={send}
      className="flex flex-col gap-2 rounded-panel border border-field bg-panel p-2 has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:outline-accent"
    >
      {images.length === 0 ? null : (
        <AttachedImages images={images} onRemove={(url) => setImages(images.filter((each) => each !== url))} />
      )}
      <textarea
        aria-label={label}
        value={text}
        rows={2}
        placeholder={awaited.length === 0 ? 'Write a message. Enter sends it.' : label}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event);
        }}
        className="max-h-60 min-h-12 w-full resize-y bg-transparent px-2 py-1 outline-none"
      />
      <div className="flex items-center justify-between gap-2">
        <span className="flex min-w-0 items-center gap-2 text-small text-muted">
          {canAttach && awaited.length === 0 ? <AttachButton onFiles={(files) => void attach(files)} /> : null}
          <span className="truncate text-warning">{fault ?? obstacle}</span>
        </span>
        {isRunning ? (
          <Button onClick={onStop}>Stop</Button>
        ) : (
          <Button type="submit" tone="primary" disabled={!canSend}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}

function AttachButton({ onFiles }: { onFiles(files: FileList | null): void }): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button onClick={() => input.current?.click()}>Add an image</Button>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        hidden
        aria-label="Images"
        onChange={(event) => {
          onFiles(event.target.files);
          event.target.value = '';
        }}
      />
    </>
  );
}

function AttachedImages({
  images,
  onRemove,
}: {
  readonly images: readonly string[];
  onRemove(url: string): void;
}): ReactNode {
  return (
    <ul className="flex flex-wrap gap-2 px-2 pt-1">
      {images.map((url) => (
        <li key={url} className="relative">
          <img src={url} alt="To be sent" className="h-16 rounded-chip border border-line" />
          <span className="absolute -top-2 -right-2 rounded-control bg-panel">
            <IconButton icon="close" label="Remove the image" onClick={() => onRemove(url)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'));
    reader.readAsDataURL(file);
  });
}
