import { writeFileSync } from 'node:fs';
import { consoleTypes } from './console-types.ts';

writeFileSync(new URL('../console/src/api/generated/routes.ts', import.meta.url), consoleTypes());
