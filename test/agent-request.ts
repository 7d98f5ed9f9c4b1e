import { readFileSync } from 'node:fs';

/** A request as a coding agent sends it: a long system prompt, many tools, and turns with code and command output. */

const MARK = { cache_control: { type: 'ephemeral' } } as const;

const TOOLS: readonly [name: string, purpose: string, fields: Readonly<Record<string, string>>][] = [
  [
    'read_file',
    'Reads a file from the workspace. Long files are cut; pass an offset to read on.',
    { path: 'Absolute path of the file.', offset: 'First line to read.', limit: 'Number of lines to read.' },
  ],
  [
    'write_file',
    'Writes a whole file. Read the file first: what it contained is lost.',
    { path: 'Absolute path of the file.', content: 'The new content, in full.' },
  ],
  [
    'edit_file',
    'Replaces one exact piece of text in a file. Fails if the text occurs more than once.',
    {
      path: 'Absolute path of the file.',
      old_text: 'Text to replace, exactly as it is in the file, with enough lines around it to be unique.',
      new_text: 'The text that replaces it.',
    },
  ],
  [
    'run_command',
    'Runs a shell command and returns what it printed. Do not run commands that wait for input.',
    { command: 'The command.', timeout_ms: 'Longest time it may take.', folder: 'Folder to run it in.' },
  ],
  [
    'search_text',
    'Searches the workspace for a regular expression and returns matching lines with their files.',
    {
      pattern: 'Regular expression.',
      include: 'Only files that match this pattern.',
      limit: 'Most matches to return.',
    },
  ],
  [
    'list_folder',
    'Lists files and folders, folders first. Hidden files are left out unless asked for.',
    { path: 'Absolute path of the folder.', hidden: 'Whether to list hidden files.' },
  ],
  [
    'plan_tasks',
    'Keeps a list of tasks that the user can see. Update it when a task begins or ends.',
    { tasks: 'All tasks, each with a state.', note: 'What changed, in one sentence.' },
  ],
  [
    'fetch_page',
    'Fetches a web page and returns its text. Use it for documentation only.',
    { url: 'Address of the page.', question: 'What to look for in it.' },
  ],
  [
    'run_tests',
    'Runs the tests of one package and returns the failures with their stack traces.',
    { package: 'Name of the package.', filter: 'Only tests whose name contains this text.' },
  ],
  [
    'ask_user',
    'Asks the user a question. Use it only if the task cannot go on without an answer.',
    { question: 'The question.', choices: 'Answers to choose from.' },
  ],
];

const GUIDANCE =
  'Work in small steps and check each one. Read before you write. Keep to the style of the code around you. ' +
  'Say what you did in two sentences, without praise. Do not touch files that the task does not name. ' +
  'When a command fails, read its output before you try again. Never print secrets. ';

function toolOf([name, purpose, fields]: (typeof TOOLS)[number], copy: number): object {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([field, description]) => [
      field,
      { type: 'string', description: `${description} ${GUIDANCE.slice(0, 90)}` },
    ]),
  );
  return {
    name: copy === 0 ? name : `${name}_${copy}`,
    description: `${purpose} ${GUIDANCE}`,
    input_schema: {
      type: 'object',
      properties,
      required: Object.keys(fields).slice(0, 1),
      additionalProperties: false,
    },
  };
}

function agentTools(): object[] {
  return [0, 1].flatMap((copy) => TOOLS.map((tool) => toolOf(tool, copy)));
}

/** One step of the agent: it reads a part of a file of this repository. */
export function agentTurn(turn: number, chars = 1_200): object[] {
  const source = readFileSync(new URL('../src/store/rules/money-rules.ts', import.meta.url), 'utf8');
  const start = (turn * 997) % (source.length - chars);
  const id = `toolu_${String(turn).padStart(8, '0')}`;
  return [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: `I will look at part ${turn} of the rules before I change them.` },
        { type: 'tool_use', id, name: 'read_file', input: { path: '/project/src/rules.ts', offset: String(start) } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: source.slice(start, start + chars) }] },
  ];
}

/** A request of the messages wire of about 44 KB, with cache marks where agents set them. */
export function agentRequest(model: string, turns = 14): Record<string, unknown> {
  const tools = agentTools();
  const messages = [
    { role: 'user', content: 'Make the hold refuse an amount above the cap of the key, and add a test.' },
    ...Array.from({ length: turns }, (_, turn) => agentTurn(turn)).flat(),
  ];
  return {
    model,
    max_tokens: 32_000,
    system: [{ type: 'text', text: GUIDANCE.repeat(18), ...MARK }],
    tools: tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, ...MARK } : tool)),
    messages,
  };
}
