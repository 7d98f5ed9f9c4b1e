import type { SetupClient } from '../client.ts';
import { aider } from './aider.ts';
import { claude } from './claude.ts';
import { cline } from './cline.ts';
import { codex } from './codex.ts';
import { continueCli } from './continue.ts';
import { llm } from './llm.ts';
import { opencode } from './opencode.ts';
import { qwen } from './qwen.ts';

export const SETUP_CLIENTS: readonly SetupClient[] = [codex, claude, opencode, aider, cline, continueCli, qwen, llm];
