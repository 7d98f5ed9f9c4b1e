import { afterEach, expect, test, vi } from 'vitest';
import { submitJobs } from './submit-jobs.ts';

afterEach(() => void vi.unstubAllGlobals());

/** As a proxy in front of the gateway answers by itself. */
class RequestThroughProxy {
  readonly upload = {};
  readonly status: number = 504;
  readonly responseText = '<html>Gateway Time-out</html>';
  onload = (): void => {};
  open(): void {}
  setRequestHeader(): void {}
  send(): void {
    queueMicrotask(() => this.onload());
  }
}

test.each([
  [413, 'The file was not accepted (status 413).'],
  [504, 'The server answered with status 504. It is not known whether the jobs were accepted.'],
  [200, 'The server answered with status 200. It is not known whether the jobs were accepted.'],
])(
  'an answer that is not from the gateway, with status %d, says whether jobs may have been accepted',
  async (status, text) => {
    class AnsweredRequest extends RequestThroughProxy {
      override readonly status = status;
    }
    vi.stubGlobal('XMLHttpRequest', AnsweredRequest);
    vi.stubGlobal('sessionStorage', { getItem: () => null });
    await expect(submitJobs([], null, () => {})).rejects.toMatchObject({
      status,
      message: expect.stringContaining(text),
    });
  },
);

test('says that it is not known whether jobs were accepted if no answer comes', async () => {
  class UnansweredRequest extends RequestThroughProxy {
    onerror = (): void => {};
    override send(): void {
      queueMicrotask(() => this.onerror());
    }
  }
  vi.stubGlobal('XMLHttpRequest', UnansweredRequest);
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  await expect(submitJobs([], null, () => {})).rejects.toThrow('It is not known whether the jobs were accepted.');
});
