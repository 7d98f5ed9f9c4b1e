import { serveBackup } from './backup-verbs.ts';
import { serve } from './thread.ts';

/** Entry point of the backup thread. */
serve(serveBackup());
