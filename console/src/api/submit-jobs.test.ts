import { afterEach, expect, test, vi } from 'vitest';
import { submitJobs } from './submit-jobs.ts';

afterEach(() => void vi.unstubAllGlobals());

/** As a proxy in front of the gateway answers while the gateway is away. */
class RequestThroughProxy {
  readonly upload = {};
  readonly status = 502;
  readonly responseText = '<html>Bad gateway</html>';
  onload = (): void => {};
  open(): void {}
  setRequestHeader(): void {}
  send(): void {
    queueMicrotask(() => this.onload());
  }
}

test('fails with the status of an answer that is not from the gateway', async () => {
  vi.stubGlobal('XMLHttpRequest', RequestThroughProxy);
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  await expect(submitJobs([], null, () => {})).rejects.toMatchObject({
    status: 502,
    message: 'The file was not accepted (status 502).',
  });
});

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
