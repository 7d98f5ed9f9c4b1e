import type { HostRow } from './host.ts';

const BEARER = { header: 'authorization', scheme: 'Bearer' } as const;

/** The hosts Tollgate knows without being told; the config file adds others, or other addresses for these. */
export const HOST_ROWS: readonly HostRow[] = [
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    wire: 'chat',
    auth: BEARER,
    keyVariables: ['OPENAI_API_KEY'],
    relay: 'mended',
    outputLimitField: 'max_completion_tokens',
    forwards: ['prompt_cache_key', 'safety_identifier'],
    onClientGone: 'drain',
    simulated: false,
    slots: {},
  },
  {
    // Reached by its OpenAI-style endpoint for now: docs/decisions/0001-anthropic-by-its-chat-endpoint.md.
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    wire: 'chat',
    auth: BEARER,
    keyVariables: ['ANTHROPIC_API_KEY'],
    relay: 'mended',
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
    wire: 'chat',
    auth: BEARER,
    keyVariables: [],
    relay: 'exact',
    outputLimitField: 'max_completion_tokens',
    forwards: [],
    onClientGone: 'drain',
    simulated: true,
    slots: {},
  },
];
