export const CAP_WINDOWS = ['lifetime', 'day', 'week', 'month'] as const;
export type CapWindow = (typeof CAP_WINDOWS)[number];
