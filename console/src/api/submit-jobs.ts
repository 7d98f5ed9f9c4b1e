import { ApiError } from './client.ts';
import { callHeaders } from './gateway-call.ts';

interface SubmittedGroup {
  readonly id: string;
}

/** The connection may have failed after the gateway had accepted the jobs. */
const OUTCOME_UNKNOWN =
  'It is not known whether the jobs were accepted. Look at the list before you submit the file again.';

/** Sends a group of jobs. Only XMLHttpRequest says how far an upload is. */
export function submitJobs(
  requests: readonly unknown[],
  keyId: string | null,
  onSent: (part: number) => void,
): Promise<SubmittedGroup> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/v1/jobs/groups');
    for (const [name, value] of Object.entries(callHeaders(keyId))) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onSent(total === 0 ? 0 : loaded / total);
    request.upload.onload = () => onSent(1);
    request.onerror = () =>
      reject(new ApiError(0, 'unreachable', `The gateway cannot be reached. ${OUTCOME_UNKNOWN}`, null));
    request.onload = () => {
      const { id, error } = readAnswer(request.responseText);
      if (request.status < 300 && id !== undefined) resolve({ id });
      else reject(new ApiError(request.status, 'refused', error?.message ?? unexplained(request.status), null));
    };
    request.send(JSON.stringify({ requests }));
  });
}

/** A proxy answers for a gateway that takes too long, which may accept the jobs all the same. */
function unexplained(status: number): string {
  if (status >= 400 && status < 500) return `The file was not accepted (status ${status}).`;
  return `The server answered with status ${status}. ${OUTCOME_UNKNOWN}`;
}

/** Empty if the answer is not the gateway's: a proxy in front of it may have refused the file. */
function readAnswer(text: string): { readonly id?: string; readonly error?: { readonly message: string } } {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    return {};
  }
}
