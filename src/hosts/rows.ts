import type { HostRow } from './host.ts';

const BEARER = { header: 'authorization', scheme: 'Bearer' } as const;

/** The hosts Tollgate knows without being told; the config file adds others, or other addresses for these. */
export const HOST_ROWS: readonly HostRow[] = [
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    wires: ['chat', 'responses', 'completions', 'embeddings'],
    auth: BEARER,
    keyVariables: ['OPENAI_API_KEY'],
    relay: 'mended',
    reducesVectors: true,
    outputLimitField: 'max_completion_tokens',
    forwards: ['prompt_cache_key', 'safety_identifier'],
    onClientGone: 'drain',
    simulated: false,
    slots: {},
  },
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    wires: ['messages'],
    auth: { header: 'x-api-key', scheme: null },
    keyVariables: ['ANTHROPIC_API_KEY'],
    relay: 'mended',
    reducesVectors: false,
    outputLimitField: 'max_tokens',
    forwards: [],
    onClientGone: 'drain',
    simulated: false,
    slots: {},
  },
  {
    name: 'sim',
    // Filled in at start, when the simulated upstream knows its port.
    baseUrl: '',
    wires: ['chat', 'messages', 'responses', 'completions', 'embeddings', 'systemone'],
    auth: BEARER,
    keyVariables: [],
    relay: 'exact',
    reducesVectors: false,
    outputLimitField: 'max_completion_tokens',
    forwards: [],
    onClientGone: 'drain',
    simulated: true,
    slots: {},
  },
];
