import { serveBackup } from './backup-verbs.ts';
import { serve } from './serve-ports.ts';

/** Entry point of the backup thread. */
serve(serveBackup());
