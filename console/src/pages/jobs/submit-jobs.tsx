import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { submitJobs } from '../../api/submit-jobs.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { Field, Select } from '../../parts/field.tsx';
import { formatCounted } from '../../parts/money-format.ts';
import { useNotices } from '../../parts/notices.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { keyChoices } from '../../shell/key-choices.ts';
import { usePayingKeys } from '../../shell/paying-keys.ts';
import { useFilters } from '../../shell/search.ts';
import { readBatchFile } from './batch-file.ts';

const BYTES_MAX = 32_000_000;
const NO_KEY = 'Jobs need a key of yours to pay for them. Mint one on the page Keys first.';
const REFRESHES = ['GET /jobs', 'GET /job-groups', 'GET /accounts'];

interface Submission {
  readonly requests: readonly unknown[] | null;
  /** From 0 to 1 while the file is sent; null otherwise. */
  readonly sent: number | null;
  readonly fault: string | null;
  choose(file: File | undefined): Promise<void>;
  submit(payer: string | null): Promise<void>;
}

/** A batch file that is chosen, checked and sent. */
function useSubmission(): Submission {
  const { tell } = useNotices();
  const { change } = useFilters();
  const client = useQueryClient();
  const [requests, setRequests] = useState<readonly unknown[] | null>(null);
  const [sent, setSent] = useState<number | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const isRunning = useRef(false);
  const choose = async (file: File | undefined): Promise<void> => {
    setRequests(null);
    setFault(null);
    if (file === undefined) return;
    if (file.size > BYTES_MAX) return setFault('The file is larger than 32 MB. Use tollgate jobs submit for it.');
    const text = await file.text().catch(() => null);
    const read = text === null ? 'The file cannot be read. Choose it again.' : readBatchFile(text);
    if (typeof read === 'string') setFault(read);
    else setRequests(read);
  };
  const submit = async (payer: string | null): Promise<void> => {
    // A second click may come before the button is disabled, and the file would be paid for twice.
    if (isRunning.current) return;
    isRunning.current = true;
    setSent(0);
    setFault(null);
    try {
      const group = await submitJobs(requests ?? [], payer, setSent);
      await Promise.all(REFRESHES.map((name) => client.invalidateQueries({ queryKey: [name] })));
      tell(`Accepted: ${formatCounted(requests?.length, 'job')}.`);
      // Back does not open again what was closed.
      change({ dialog: undefined, show: undefined, group: group.id }, { replace: true });
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'The file was not accepted.');
      setSent(null);
      isRunning.current = false;
    }
  };
  return { requests, sent, fault, choose, submit };
}

/** Submits a batch file. All its requests are accepted, or none. */
export function SubmitJobsDialog({ onClose }: { onClose(): void }): ReactNode {
  const { keys, isRequired, isPending, error } = usePayingKeys();
  const [keyId, setKeyId] = useState('');
  const { requests, sent, fault, choose, submit } = useSubmission();
  const payer = keyId === '' ? (isRequired ? (keys[0]?.id ?? null) : null) : keyId;
  const isMissing = isRequired && payer === null;
  return (
    <FormDialog
      title="Submit a batch file"
      action={requests === null ? 'Submit' : `Submit ${formatCounted(requests.length, 'job')}`}
      busy={sent !== null}
      error={fault}
      disabled={requests === null || isMissing}
      onSubmit={() => void submit(payer)}
      onClose={onClose}
    >
      <Field label="File" hint="JSON Lines as for the vendors’ batches: custom_id, method, url and body in each line.">
        {(id) => (
          <input
            id={id}
            type="file"
            accept=".jsonl,.ndjson,application/jsonl,text/plain"
            onChange={(event) => void choose(event.target.files?.[0])}
            className="text-body file:mr-3 file:h-7 file:rounded-control file:border file:border-line-strong file:bg-panel file:px-2.5 file:font-medium"
          />
        )}
      </Field>
      <Field
        label="Paid by"
        hint="The worst case of all jobs is reserved at once."
        error={isMissing && !isPending ? (error?.message ?? NO_KEY) : null}
      >
        {(id) => (
          <Select
            id={id}
            value={payer ?? ''}
            choices={[...(isRequired ? [] : [{ value: '', label: 'this machine' }]), ...keyChoices(keys)]}
            onChange={setKeyId}
          />
        )}
      </Field>
      {sent === null ? null : (
        <ProgressBar label="Sending the file" part={sent} detail={sent < 1 ? 'Sending' : 'Checking and reserving'} />
      )}
    </FormDialog>
  );
}
