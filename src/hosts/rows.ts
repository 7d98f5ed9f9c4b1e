import { HOST_WIRES } from '../canonical/wire-names.ts';
import type { HostRow } from './host.ts';

const BEARER = { header: 'authorization', scheme: 'Bearer' } as const;

/** Defaults for a compatible host: the common output limit, no data about the caller's users. */
const PLAIN = {
  baseUrl: '',
  wires: ['chat'],
  auth: BEARER,
  keyVariables: [],
  reducesVectors: false,
  outputLimitField: 'max_tokens',
  forwards: [],
  onClientGone: 'drain',
  simulated: false,
  quirks: {},
} as const satisfies Omit<HostRow, 'name'>;

/** Reasoning of earlier turns came from another model, or the host rejects the field. */
const NO_TRACES = { traces: 'none' } as const;
/** Most compatible hosts also know only the role "system" for instructions. */
const COMPATIBLE = { ...NO_TRACES, developerAsSystem: true } as const;

/** The vendor of the responses wire refuses lower output limits there, and not on its chat wire. */
const RESPONSES_LIMIT_MIN = 16;

const vendors: readonly HostRow[] = [
  {
    ...PLAIN,
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    wires: ['chat', 'responses', 'completions', 'embeddings'],
    keyVariables: ['OPENAI_API_KEY'],
    reducesVectors: true,
    outputLimitField: 'max_completion_tokens',
    forwards: ['prompt_cache_key', 'safety_identifier'],
    quirks: { ...NO_TRACES, clientTools: true, outputLimitMin: RESPONSES_LIMIT_MIN },
  },
  {
    ...PLAIN,
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    wires: ['messages'],
    auth: { header: 'x-api-key', scheme: null },
    keyVariables: ['ANTHROPIC_API_KEY'],
  },
  {
    // Deployments have custom names, so the catalog knows none of them: the config file lists them.
    ...PLAIN,
    name: 'azure',
    address: { variables: ['AZURE_OPENAI_BASE_URL', 'AZURE_OPENAI_ENDPOINT'], path: '/openai/v1', port: null },
    wires: ['chat', 'responses', 'embeddings'],
    auth: { header: 'api-key', scheme: null },
    keyVariables: ['AZURE_OPENAI_API_KEY'],
    reducesVectors: true,
    outputLimitField: 'max_completion_tokens',
    quirks: { ...NO_TRACES, seals: 'azure', clientTools: true, outputLimitMin: RESPONSES_LIMIT_MIN },
  },
  {
    ...PLAIN,
    name: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    wires: ['chat', 'embeddings'],
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    // Its newer models refuse tool calls of the current turn without a signature, and many clients do not send one back.
    quirks: {
      ...COMPATIBLE,
      seals: 'google',
      unsignedCall: { google: { thought_signature: 'skip_thought_signature_validator' } },
    },
  },
  {
    // Its reasoning models reject a turn without its reasoning under this name, also an empty one, and know no effort for none.
    ...PLAIN,
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    keyVariables: ['DEEPSEEK_API_KEY'],
    quirks: {
      ...COMPATIBLE,
      traces: 'reasoning_content',
      missingTrace: ' ',
      reasoningOff: { thinking: { type: 'disabled' } },
    },
  },
  {
    // Rejects every unknown field, also inside messages, and ids of tool calls unlike its own; reports usage unasked.
    ...PLAIN,
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    wires: ['chat', 'embeddings'],
    keyVariables: ['MISTRAL_API_KEY'],
    quirks: { ...COMPATIBLE, omits: ['stream_options'], callIdChars: 9 },
  },
  {
    // Its chat wire is deprecated, and its output limit there excludes reasoning.
    ...PLAIN,
    name: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    wires: ['responses'],
    keyVariables: ['XAI_API_KEY'],
    outputLimitField: 'max_completion_tokens',
    forwards: ['prompt_cache_key'],
    quirks: { seals: 'xai', omits: ['prompt_cache_retention'] },
  },
  {
    ...PLAIN,
    name: 'cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    wires: ['chat', 'embeddings'],
    keyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
    quirks: COMPATIBLE,
  },
  {
    // Truncates long inputs silently unless told not to, and supports one encoding only.
    ...PLAIN,
    name: 'voyage',
    baseUrl: 'https://api.voyageai.com/v1',
    wires: ['embeddings'],
    keyVariables: ['VOYAGE_API_KEY', 'VOYAGEAI_API_KEY'],
    quirks: { omits: ['encoding_format'], adds: { truncation: false } },
  },
  {
    ...PLAIN,
    name: 'typesafe',
    baseUrl: 'https://api.typesafe.ai/v1',
    wires: ['systemone'],
    keyVariables: ['TYPESAFE_API_KEY'],
  },
];

/** Hosts that serve other vendors' models. */
const servers: readonly HostRow[] = [
  {
    ...PLAIN,
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyVariables: ['GROQ_API_KEY'],
    outputLimitField: 'max_completion_tokens',
    quirks: NO_TRACES,
  },
  {
    ...PLAIN,
    name: 'together',
    baseUrl: 'https://api.together.ai/v1',
    keyVariables: ['TOGETHER_API_KEY', 'TOGETHERAI_API_KEY'],
    quirks: COMPATIBLE,
  },
  {
    ...PLAIN,
    name: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    keyVariables: ['FIREWORKS_API_KEY', 'FIREWORKS_AI_API_KEY'],
    quirks: { ...COMPATIBLE, traces: 'reasoning_content' },
  },
  {
    ...PLAIN,
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    keyVariables: ['CEREBRAS_API_KEY'],
    outputLimitField: 'max_completion_tokens',
    quirks: COMPATIBLE,
  },
  {
    ...PLAIN,
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    wires: ['chat', 'messages'],
    reseller: true,
    keyVariables: ['OPENROUTER_API_KEY'],
    quirks: { developerAsSystem: true, seals: 'any' },
  },
  {
    ...PLAIN,
    name: 'perplexity',
    baseUrl: 'https://api.perplexity.ai',
    keyVariables: ['PERPLEXITY_API_KEY', 'PPLX_API_KEY'],
    quirks: COMPATIBLE,
  },
];

const LOCAL = { ...PLAIN, wires: ['chat', 'embeddings', 'completions'], quirks: { developerAsSystem: true } } as const;

/** Servers that people run themselves. */
const locals: readonly HostRow[] = [
  {
    ...LOCAL,
    name: 'ollama',
    address: { variables: ['OLLAMA_HOST', 'OLLAMA_BASE_URL'], path: '/v1', port: 11_434 },
    local: { port: 11_434, owner: null },
  },
  {
    // Many programs use this port, so its models must name their owner.
    ...LOCAL,
    name: 'vllm',
    address: { variables: ['VLLM_BASE_URL', 'VLLM_API_BASE'], path: '/v1', port: 8_000 },
    local: { port: 8_000, owner: 'vllm' },
    keyVariables: ['VLLM_API_KEY'],
  },
  {
    // Its usual port is ours.
    ...LOCAL,
    name: 'llamacpp',
    address: { variables: ['LLAMACPP_BASE_URL', 'LLAMA_CPP_BASE_URL'], path: '/v1', port: 8_080 },
    local: { port: null, owner: null },
    keyVariables: ['LLAMACPP_API_KEY', 'LLAMA_CPP_API_KEY'],
  },
  {
    ...LOCAL,
    name: 'lmstudio',
    address: {
      variables: ['LMSTUDIO_BASE_URL', 'LM_STUDIO_BASE_URL', 'LM_STUDIO_API_BASE'],
      path: '/v1',
      port: 1_234,
    },
    local: { port: 1_234, owner: null },
    keyVariables: ['LMSTUDIO_API_KEY', 'LM_STUDIO_API_KEY'],
  },
];

const simulated: HostRow = {
  ...PLAIN,
  name: 'sim',
  // Filled in at start, when the simulated upstream knows its port.
  baseUrl: '',
  wires: HOST_WIRES,
  outputLimitField: 'max_completion_tokens',
  simulated: true,
};

/** The built-in hosts; the config file adds others or changes these. */
export const HOST_ROWS: readonly HostRow[] = [...vendors, ...servers, ...locals, simulated];
