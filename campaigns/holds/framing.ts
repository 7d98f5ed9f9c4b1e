import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CatalogModel } from '../../src/catalog/model.ts';
import { modelOf, wholeCatalog } from './families.ts';
import { boundsOf, loadTokenizers, median } from './prompt-bounds.ts';
import { installTokenizers, renderAll, TEMPLATES } from './tokenizer-packages.ts';

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { id: string; type: string; function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly object[];
}

const AGENTS = resolve(import.meta.dirname, '../../fixtures/agents');

/** Compares the counted bound of conversations with what chat templates make of them. The result is 1 if a bound is too low. */
export async function writeFraming(print: (line: string) => void): Promise<number> {
  installTokenizers();
  const requests = [...shapes(), ...agentRequests()];
  const rendered = renderAll(requests.map(asTemplateInput));
  const tokenizers = await loadTokenizers();
  const catalog = wholeCatalog();
  print('template        conversations   short   worst   bound/true, median');
  let short = 0;
  for (const { name, model } of TEMPLATES) {
    const known = modelOf(catalog, model);
    if (known === null) throw new Error(`The catalog has no ${model}, which ${name} stands for.`);
    const ratios = requests.flatMap((request, at) => {
      const tokens = rendered.get(name)?.[at];
      return typeof tokens === 'number' ? [tokens / boundOf(request, known, tokenizers)] : [];
    });
    short += ratios.filter((ratio) => ratio > 1).length;
    print(rowOf(name, ratios));
  }
  return short > 0 ? 1 : 0;
}

function boundOf(
  request: ChatRequest,
  model: CatalogModel,
  tokenizers: Awaited<ReturnType<typeof loadTokenizers>>,
): number {
  const body = Buffer.from(JSON.stringify({ model: model.id, ...request }));
  return boundsOf('chat', body, model, tokenizers).counted;
}

function rowOf(name: string, ratios: readonly number[]): string {
  return [
    name.padEnd(16),
    String(ratios.length).padStart(13),
    String(ratios.filter((ratio) => ratio > 1).length).padStart(8),
    Math.max(0, ...ratios)
      .toFixed(2)
      .padStart(8),
    median(ratios.map((ratio) => 1 / ratio))
      .toFixed(2)
      .padStart(21),
  ].join('');
}

/** Conversations in which what a template adds is most of the prompt. */
function shapes(): ChatRequest[] {
  const user = { role: 'user', content: 'x' };
  const system = { role: 'system', content: 'x' };
  const pair = [user, { role: 'assistant', content: 'y' }];
  const talk = [1, 2, 4, 20].map((pairs) => Array.from({ length: pairs }, () => pair).flat());
  const conversations = [[user], [system, user], ...talk.map((messages) => [...messages, user])];
  const calls = [1, 2, 10].map((count) => [user, ...Array.from({ length: count }, (_, at) => calledTool(at)).flat()]);
  const tools = [1, 3, 20].map((count) => Array.from({ length: count }, (_, at) => smallTool(at)));
  return [
    ...[...conversations, ...calls].map((messages) => ({ messages })),
    ...tools.flatMap((offered) => [[user], ...calls].map((messages) => ({ messages, tools: offered }))),
  ];
}

function smallTool(at: number): object {
  const parameters = { type: 'object', properties: { x: { type: 'string', description: 'y' } }, required: ['x'] };
  return { type: 'function', function: { name: `f${at}`, description: 'd', parameters } };
}

/** Templates of one vendor require ids of nine characters. */
function calledTool(at: number): ChatMessage[] {
  const id = `call${String(at).padStart(5, '0')}`;
  const call = { id, type: 'function', function: { name: 'f0', arguments: '{"x":"y"}' } };
  return [
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: id, content: 'z' },
  ];
}

function agentRequests(): ChatRequest[] {
  return readdirSync(AGENTS).flatMap((file) => {
    const { requests } = JSON.parse(readFileSync(join(AGENTS, file), 'utf8')) as {
      requests: { path: string; body: ChatRequest }[];
    };
    return requests
      .filter(({ path }) => path.endsWith('/chat/completions'))
      .map(({ body: { messages, tools } }) => ({ messages, ...(tools !== undefined && { tools }) }));
  });
}

/** Templates want parsed arguments, plain text, ids of nine characters, and the older name of the developer role. */
function asTemplateInput({ messages, tools }: ChatRequest): object {
  const rendered = messages.map(({ role, content, tool_calls: calls, tool_call_id: id }) => ({
    role: role === 'developer' ? 'system' : role,
    content: textOf(content),
    ...(id !== undefined && { tool_call_id: id.slice(-9).padStart(9, '0') }),
    ...(calls !== undefined && { tool_calls: calls.map(asTemplateCall) }),
  }));
  return { messages: rendered, ...(tools !== undefined && { tools }) };
}

function asTemplateCall({ id, type, function: called }: NonNullable<ChatMessage['tool_calls']>[number]): object {
  const parsed = JSON.parse(called.arguments) as object;
  return { id: id.slice(-9).padStart(9, '0'), type, function: { name: called.name, arguments: parsed } };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { text?: string }[]).map(({ text }) => text ?? '').join('');
}
