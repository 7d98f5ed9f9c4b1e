import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../src/config/config.ts';

const target = new URL('../tollgate.config.schema.json', import.meta.url);
writeFileSync(target, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
