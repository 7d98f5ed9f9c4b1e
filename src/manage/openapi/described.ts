import type { z } from 'zod';

/** Does not compile unless the schema describes exactly this view. */
export function described<View>() {
  return <Schema extends z.ZodType<View>>(schema: [View] extends [z.output<Schema>] ? Schema : never): Schema => schema;
}
