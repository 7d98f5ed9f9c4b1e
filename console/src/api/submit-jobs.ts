import { ApiError } from './client.ts';
import { callHeaders } from './gateway-call.ts';

interface SubmittedGroup {
  readonly id: string;
}

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
    request.onerror = () => reject(new ApiError(0, 'unreachable', 'The gateway cannot be reached.', null));
    request.onload = () => {
      const body = JSON.parse(request.responseText || '{}') as SubmittedGroup & { error?: { message: string } };
      if (request.status < 300) resolve(body);
      else reject(new ApiError(request.status, 'refused', body.error?.message ?? 'The file was not accepted.', null));
    };
    request.send(JSON.stringify({ requests }));
  });
}
