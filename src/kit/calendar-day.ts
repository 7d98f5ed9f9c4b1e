/** Whether a date like 2027-01-31 exists: Node takes 31 February for a day of March. */
export function isCalendarDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}
