import type {
  AnswerFormat,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  Sampling,
} from '../../canonical/request.ts';
import { writeCacheMark } from '../fields/cache-mark.ts';
import type { Members } from '../fields/members.ts';
import { mustBe, untranslatable } from '../fields/request-errors.ts';
import type { HubRequestTerms } from '../hub.ts';
import { strictSchema } from './strict-schema.ts';
import { writeBlock } from './write-blocks.ts';
import { type Thinking, writeThinking } from './write-thinking.ts';

/** Writes a request of the common language for a host of this wire. */
export function writeRequest(request: CanonicalRequest, terms: HubRequestTerms): Buffer {
  const thinking = writeThinking(request.reasoning, terms);
  const { system, messages } = writeMessages(request.messages);
  const fields = JSON.stringify({
    model: terms.hostModel,
    max_tokens: terms.outputLimit,
    ...(terms.stream && { stream: true }),
    ...(request.tools.length > 0 && { tools: request.tools.map(writeTool), tool_choice: writeToolChoice(request) }),
    ...(thinking.thinking !== null && { thinking: thinking.thinking }),
    output_config: writeOutputConfig(thinking, request.answerFormat),
    ...writeSampling(request.sampling, thinking),
  });
  const prompt = `"messages":[${messages.join(',')}]`;
  return Buffer.from(
    `${fields.slice(0, -1)}${system.length === 0 ? '' : `,"system":[${system.join(',')}]`},${prompt}}`,
  );
}

/** The blocks of one turn; a user turn begins with the tool results. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly results: string[];
  readonly blocks: string[];
}

/** Merges messages but never blocks, so a cache mark stays on its block. */
function writeMessages(given: readonly CanonicalMessage[]): { system: string[]; messages: string[] } {
  const system: string[] = [];
  const turns: Turn[] = [];
  given.forEach(({ role, blocks }, index) => {
    for (const block of blocks) {
      const written = writeBlock(block);
      if (written === null) continue;
      if (role === 'system') {
        if (block.kind !== 'text') throw untranslatable(`messages[${index}]`, 'write instructions as text');
        system.push(written);
      } else {
        const turn = turnOf(turns, role);
        (block.kind === 'tool-result' ? turn.results : turn.blocks).push(written);
      }
    }
  });
  return { system, messages: turns.map(writeTurn) };
}

function turnOf(turns: Turn[], role: 'user' | 'assistant'): Turn {
  const last = turns.at(-1);
  if (last?.role === role) return last;
  const turn: Turn = { role, results: [], blocks: [] };
  turns.push(turn);
  return turn;
}

function writeTurn({ role, results, blocks }: Turn): string {
  return `{"role":"${role}","content":[${[...results, ...blocks].join(',')}]}`;
}

function writeTool({ name, description, schema, strict, cache }: CanonicalTool): Members {
  const objectSchema = schema.type === undefined ? { type: 'object', ...schema } : schema;
  return {
    name,
    ...(description !== null && { description }),
    input_schema: strict === true ? strictSchema(objectSchema) : objectSchema,
    ...(strict !== null && { strict }),
    ...writeCacheMark(cache),
  };
}

const CHOICES = { auto: 'auto', required: 'any', none: 'none' } as const;

function writeToolChoice({ toolChoice, parallelToolCalls }: CanonicalRequest): Members | undefined {
  const single = parallelToolCalls === false && toolChoice?.kind !== 'none' && { disable_parallel_tool_use: true };
  if (toolChoice === null) return single === false ? undefined : { type: 'auto', ...single };
  if (toolChoice.kind === 'tool') return { type: 'tool', name: toolChoice.name, ...single };
  return { type: CHOICES[toolChoice.kind], ...single };
}

/** This wire has no JSON format without a schema; the prompt must ask for JSON. */
function writeOutputConfig({ effort }: Thinking, format: AnswerFormat | null): Members | undefined {
  const schema = format?.kind === 'schema' ? strictSchema(format.schema) : null;
  if (effort === null && schema === null) return undefined;
  return {
    ...(effort !== null && { effort }),
    ...(schema !== null && { format: { type: 'json_schema', schema } }),
  };
}

/** Hosts refuse thinking with a lower `top_p`. */
const THINKING_TOP_P_MIN = 0.95;

/** Default values are left out, since newer models refuse the fields; thinking restricts them further. */
function writeSampling({ temperature, topP, topK, stop, ...others }: Sampling, { thinking }: Thinking): Members {
  refuseSampling(others);
  const thinks = thinking !== null && thinking.type !== 'disabled';
  const sampling: Members = {};
  if (temperature !== null && temperature !== 1 && !thinks) sampling.temperature = temperature;
  if (topP !== null && topP !== 1 && !(thinks && topP < THINKING_TOP_P_MIN)) sampling.top_p = topP;
  if (topK !== null && !thinks) sampling.top_k = topK;
  if (stop.length > 0) sampling.stop_sequences = stop.map(checkStop);
  return sampling;
}

function refuseSampling({
  frequencyPenalty,
  presencePenalty,
  seed,
}: Omit<Sampling, 'temperature' | 'topP' | 'topK' | 'stop'>): void {
  if (frequencyPenalty !== null && frequencyPenalty !== 0) throw untranslatable('frequency_penalty');
  if (presencePenalty !== null && presencePenalty !== 0) throw untranslatable('presence_penalty');
  if (seed !== null) throw untranslatable('seed');
}

function checkStop(sequence: string): string {
  if (sequence.trim() === '') throw mustBe('stop', 'more than white space for this model');
  return sequence;
}
