import { describe, expect, it, vi } from 'vitest';
import type { AttemptResult } from './attempt.ts';
import { CancelDecision } from './cancel-decision.ts';

const CANCELLED = { ended: 'client_gone' } as AttemptResult;
const FINISHED = { ended: 'complete' } as AttemptResult;

function ask(mayCancel: ((cancelled: AttemptResult) => Promise<boolean>) | null) {
  const decision = new CancelDecision(mayCancel);
  const [cancel, goOn] = [vi.fn(), vi.fn()];
  decision.ask(CANCELLED, cancel, goOn);
  return { decision, cancel, goOn };
}

describe('a decision whether a host may be cancelled', () => {
  it('is not needed if it always may', () => {
    const { decision, cancel } = ask(null);
    expect(cancel).toHaveBeenCalledWith(CANCELLED);
    expect(decision.withholds(FINISHED)).toBe(false);
  });

  it.each([
    ['no', async () => false],
    ['an error', async () => Promise.reject(new Error('a bug'))],
  ])('lets the call go on if it is %s, with the result that came meanwhile', async (_answer, mayCancel) => {
    const { decision, cancel, goOn } = ask(mayCancel);
    expect([decision.withholds(FINISHED), decision.hasResult]).toEqual([true, true]);
    await vi.waitFor(() => expect(goOn).toHaveBeenCalledWith(FINISHED));
    expect(cancel).not.toHaveBeenCalled();
    expect(decision.withholds(FINISHED)).toBe(false);
  });

  it('cancels the host if it is yes, whatever the host had finished', async () => {
    const { decision, cancel, goOn } = ask(async () => true);
    decision.withholds(FINISHED);
    await vi.waitFor(() => expect(cancel).toHaveBeenCalledWith(CANCELLED));
    expect(goOn).not.toHaveBeenCalled();
  });
});
