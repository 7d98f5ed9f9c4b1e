import { serveBackup } from './backup-verbs.ts';
import { serve } from './thread.ts';

/** Entry of the thread that makes a backup. */
serve(serveBackup());
