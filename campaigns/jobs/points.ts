/** Moments in a job's life at which a process is killed. */
export const KILL_POINTS = [
  'after reserve',
  'before claim',
  'after claim',
  'before start',
  'after start',
  'before host',
  'mid-answer',
  'before finish',
  'after finish',
  'before webhook',
] as const;
export type KillPoint = (typeof KILL_POINTS)[number];
