import { type Agent, KEY_VARIABLE } from './agent.ts';
import { COUNT_WORDS, FIXED, findTypoFault, notesOf, PROMPT, patchOf, REPORT, TYPO } from './typo-task.ts';

const byVariable: Agent['env'] = ({ key }) => ({ [KEY_VARIABLE]: key });
const EDIT = { old_string: TYPO, new_string: FIXED };

const codex: Agent = {
  name: 'codex',
  from: 'npm',
  package: '@openai/codex',
  version: '0.166.0',
  program: 'codex',
  env: byVariable,
  commands: () => [
    [
      'exec',
      ...['--skip-git-repo-check', '--sandbox', 'danger-full-access'],
      ...['-c', 'analytics.enabled=false', '-c', 'check_for_update_on_startup=false'],
      PROMPT,
    ],
  ],
  turnsAfter: PROMPT,
  turns: () => [
    { calls: [{ name: 'exec_command', arguments: { cmd: 'cat notes.txt' } }] },
    { calls: [{ name: 'exec_command', arguments: { cmd: `apply_patch <<'END'\n${patchOf('notes.txt')}\nEND` } }] },
    { calls: [{ name: 'exec_command', arguments: { cmd: COUNT_WORDS } }] },
    // A function of a namespace, which reaches the model under another name.
    { calls: [{ name: 'multi_agent_v1__wait_agent', arguments: { targets: ['nobody'] } }] },
    { text: REPORT },
  ],
  findFault: findTypoFault,
};

const claude: Agent = {
  name: 'claude',
  from: 'npm',
  package: '@anthropic-ai/claude-code',
  version: '2.1.326',
  program: 'claude',
  model: 'sim-claude',
  env: (scratch) => ({
    ...byVariable(scratch),
    // Many users have one, and it must not be sent.
    ANTHROPIC_API_KEY: 'sk-of-the-vendor',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  prepared: { '.claude/settings.json': '{\n  "includeCoAuthoredBy": false\n}\n' },
  commands: () => [['--print', '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash', '--', PROMPT]],
  turnsAfter: PROMPT,
  turns: (scratch) => [
    { calls: [{ name: 'Read', arguments: { file_path: notesOf(scratch) } }] },
    { calls: [{ name: 'ToolSearch', arguments: { query: 'select:NotebookEdit', max_results: 1 } }] },
    { calls: [{ name: 'Edit', arguments: { file_path: notesOf(scratch), ...EDIT } }] },
    { calls: [{ name: 'Bash', arguments: { command: COUNT_WORDS, description: 'Counts words' } }] },
    { text: REPORT },
  ],
  findFault: findTypoFault,
};

const opencode: Agent = {
  name: 'opencode',
  from: 'npm',
  package: 'opencode-ai',
  version: '1.18.33',
  program: 'opencode',
  env: (scratch) => ({
    ...byVariable(scratch),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  commands: () => [['run', PROMPT]],
  turnsAfter: PROMPT,
  turns: (scratch) => [
    { calls: [{ name: 'read', arguments: { filePath: notesOf(scratch) } }] },
    { calls: [{ name: 'apply_patch', arguments: { patchText: patchOf('notes.txt') } }] },
    { calls: [{ name: 'bash', arguments: { command: COUNT_WORDS, description: 'Counts words' } }] },
    { text: REPORT },
  ],
  findFault: findTypoFault,
};

/** It has no tools: it sends the file, reads the new text from the answer, and runs the test command that it was given. */
const aider: Agent = {
  name: 'aider',
  from: 'pip',
  package: 'aider-chat',
  version: '0.86.2',
  program: 'aider',
  // Its settings file cannot name a variable.
  env: ({ key }) => ({ OPENAI_API_KEY: key, LITELLM_LOCAL_MODEL_COST_MAP: 'True' }),
  commands: () => [
    [
      ...['--yes-always', '--no-analytics', '--no-check-update', '--no-show-release-notes', '--no-gitignore'],
      ...['--no-pretty', '--no-fancy-input', '--auto-test', '--test-cmd', COUNT_WORDS],
      ...['--message', PROMPT, 'notes.txt'],
    ],
  ],
  // Not the prompt itself: it is also in the request for a commit message.
  turnsAfter: '*file listing*',
  turns: () => [{ text: `${REPORT}\n\nnotes.txt\n\`\`\`\n${FIXED}\n\`\`\`\n` }],
  findFault: findTypoFault,
};

const cline: Agent = {
  name: 'cline',
  from: 'npm',
  package: 'cline',
  version: '3.0.65',
  program: 'cline',
  // Otherwise it leaves a background process.
  env: () => ({ CLINE_SESSION_BACKEND_MODE: 'local' }),
  prepared: {
    '.cline/data/settings/global-settings.json': '{ "telemetryOptOut": true, "autoUpdateEnabled": false }\n',
  },
  // Its settings file cannot name a variable.
  commands: ({ key }) => [['--key', key, PROMPT]],
  turnsAfter: PROMPT,
  turns: (scratch) => [
    { calls: [{ name: 'read_files', arguments: { files: [{ path: notesOf(scratch) }] } }] },
    { calls: [{ name: 'apply_patch', arguments: { input: patchOf(notesOf(scratch)) } }] },
    { calls: [{ name: 'run_commands', arguments: { commands: [COUNT_WORDS] } }] },
    { text: REPORT },
  ],
  findFault: findTypoFault,
};

const continueCli: Agent = {
  name: 'continue',
  from: 'npm',
  package: '@continuedev/cli',
  version: '1.5.47',
  program: 'cn',
  env: (scratch) => ({ ...byVariable(scratch), CONTINUE_TELEMETRY_ENABLED: '0', CONTINUE_METRICS_ENABLED: '0' }),
  commands: () => [['--print', '--auto', PROMPT]],
  turnsAfter: PROMPT,
  turns: (scratch) => [
    { calls: [{ name: 'Read', arguments: { filepath: notesOf(scratch) } }] },
    { calls: [{ name: 'MultiEdit', arguments: { file_path: notesOf(scratch), edits: [EDIT] } }] },
    { calls: [{ name: 'Bash', arguments: { command: COUNT_WORDS } }] },
    { text: REPORT },
  ],
  findFault: findTypoFault,
};

const qwen: Agent = {
  name: 'qwen',
  from: 'npm',
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  program: 'qwen',
  env: byVariable,
  prepared: { '.qwen/settings.json': '{\n  // no statistics\n  "privacy": { "usageStatisticsEnabled": false }\n}\n' },
  commands: () => [['--approval-mode', 'yolo', PROMPT]],
  turnsAfter: PROMPT,
  turns: (scratch) => [
    { calls: [{ name: 'read_file', arguments: { file_path: notesOf(scratch) } }] },
    { calls: [{ name: 'edit', arguments: { file_path: notesOf(scratch), ...EDIT } }] },
    { calls: [{ name: 'run_shell_command', arguments: { command: COUNT_WORDS, is_background: false } }] },
    { text: REPORT },
  ],
  findFault: findTypoFault,
};

const TIME_QUESTION = 'What time is it?';
const TIME_ANSWER = 'It is later than you think.';

/** It has no tools for files: a prompt, a tool call, an answer by a schema, and its log. */
const llm: Agent = {
  name: 'llm',
  from: 'pip',
  package: 'llm',
  version: '0.36',
  program: 'llm',
  env: () => ({}),
  commands: ({ key }) => [
    ['keys', 'set', 'tollgate', '--value', key],
    ['-m', 'tollgate', 'Say hello'],
    ['-m', 'tollgate', '-T', 'llm_time', TIME_QUESTION],
    ['-m', 'tollgate', '--no-stream', '--schema', 'name, age int', 'Invent a dog'],
    ['logs', 'list', '-n', '0', '--short'],
  ],
  turnsAfter: TIME_QUESTION,
  turns: () => [{ calls: [{ name: 'llm_time', arguments: {} }] }, { text: TIME_ANSWER }],
  findFault(_, output) {
    if (!output.includes('simulated answer to: "Say hello"')) return 'the prompt was not answered';
    if (!output.includes(TIME_ANSWER)) return 'the tool was not called';
    if (!output.includes('{"name":"sample","age":1}')) return 'there is no answer by the schema';
    return output.includes('- llm_time({})') ? null : 'the log does not show the tool call';
  },
};

export const AGENTS: readonly Agent[] = [codex, claude, opencode, aider, cline, continueCli, qwen, llm];
