/** What a snippet has to name. */
export interface SnippetTerms {
  /** Without `/v1`. */
  readonly url: string;
  readonly model: string;
  /** One that can be called on the messages API; null if there is none, and then no snippet that uses it. */
  readonly messagesModel: string | null;
  /** Null in local mode, where no key is needed. */
  readonly secret: string | null;
}

type CallTerms = Omit<SnippetTerms, 'messagesModel'>;

interface Snippet {
  readonly name: string;
  readonly text: string;
}

const MESSAGE = 'Hello';

export function curlSnippet({ url, model, secret }: CallTerms): string {
  return [
    `curl ${url}/v1/chat/completions \\`,
    ...(secret === null ? [] : [`  -H "authorization: Bearer ${secret}" \\`]),
    `  -H "content-type: application/json" \\`,
    `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: MESSAGE }] })}'`,
  ].join('\n');
}

/** Ready to paste, for the clients that the test suite runs. */
export function snippetsFor(terms: SnippetTerms): readonly Snippet[] {
  const { url, model, messagesModel } = terms;
  const key = terms.secret ?? 'local';
  return [
    { name: 'curl', text: curlSnippet(terms) },
    {
      name: 'OpenAI SDK',
      text: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${key}' });
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: '${MESSAGE}' }],
});
console.log(answer.choices[0].message.content);`,
    },
    ...(messagesModel === null ? [] : [messagesSnippet(terms, messagesModel)]),
    {
      name: 'AI SDK',
      text: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';

const tollgate = createOpenAICompatible({ name: 'tollgate', baseURL: '${url}/v1', apiKey: '${key}' });
const { text } = await generateText({ model: tollgate('${model}'), prompt: '${MESSAGE}' });
console.log(text);`,
    },
    {
      name: 'LangChain',
      text: `import { ChatOpenAI } from '@langchain/openai';

const model = new ChatOpenAI({
  model: '${model}',
  apiKey: '${key}',
  configuration: { baseURL: '${url}/v1' },
});
const answer = await model.invoke('${MESSAGE}');
console.log(answer.content);`,
    },
    ...['codex', 'opencode', 'aider'].map((name) => ({ name, text: agentSnippet(name, terms) })),
  ];
}

function messagesSnippet({ url, secret }: SnippetTerms, model: string): Snippet {
  return {
    name: 'Anthropic SDK',
    text: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${url}', apiKey: '${secret ?? 'local'}' });
const answer = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: '${MESSAGE}' }],
});
console.log(answer.content);`,
  };
}

/** The command knows where each agent keeps its settings. */
function agentSnippet(agent: string, { url, model, secret }: SnippetTerms): string {
  const command = `tollgate setup ${agent} --model ${model} --url ${url}`;
  return secret === null ? command : `export TOLLGATE_API_KEY=${secret}\n${command} --key-env TOLLGATE_API_KEY`;
}

/** Three lines for the reader's own code. */
export function ownCodeSnippet({ url, model, secret }: CallTerms): string {
  return `from openai import OpenAI
client = OpenAI(base_url="${url}/v1", api_key="${secret ?? 'local'}")
print(client.responses.create(model="${model}", input="${MESSAGE}").output_text)`;
}
