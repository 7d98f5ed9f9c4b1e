import type { Wire } from './wire.ts';

export type CodeLanguage = 'curl' | 'javascript' | 'python';

export const CODE_CHOICES: readonly { readonly value: CodeLanguage; readonly label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'javascript', label: 'JavaScript' },
  { value: 'python', label: 'Python' },
];

interface CodeTerms {
  /** Without `/v1`. */
  readonly url: string;
  readonly wire: Wire;
  readonly body: Readonly<Record<string, unknown>>;
  readonly needsKey: boolean;
}

export function requestCode(language: CodeLanguage, terms: CodeTerms): string {
  if (language === 'curl') return curl(terms);
  return language === 'python' ? python(terms) : javascript(terms);
}

function curl({ url, wire, body, needsKey }: CodeTerms): string {
  return [
    `curl -N ${url}${wire.path} \\`,
    ...(needsKey ? ['  -H "authorization: Bearer $TOLLGATE_API_KEY" \\'] : []),
    '  -H "content-type: application/json" \\',
    `  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
  ].join('\n');
}

function javascript({ url, wire, body, needsKey }: CodeTerms): string {
  return `const response = await fetch('${url}${wire.path}', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',${needsKey ? "\n    authorization: 'Bearer ' + process.env.TOLLGATE_API_KEY," : ''}
  },
  body: JSON.stringify(${indent(JSON.stringify(body, null, 2))}),
});
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(chunk);`;
}

function python({ url, wire, body, needsKey }: CodeTerms): string {
  return `${needsKey ? 'import os\n' : ''}import httpx

body = ${pythonLiteral(body)}
with httpx.stream(
    "POST",
    "${url}${wire.path}",${needsKey ? '\n    headers={"authorization": f"Bearer {os.environ[\'TOLLGATE_API_KEY\']}"},' : ''}
    json=body,
    timeout=600,
) as response:
    for line in response.iter_lines():
        print(line)`;
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

/** As JSON, but with Python's words. Strings of JSON are strings of Python as well. */
function pythonLiteral(value: unknown, depth = 0): string {
  const inner = '    '.repeat(depth + 1);
  const outer = '    '.repeat(depth);
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => pythonLiteral(each, depth + 1))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonLiteral(each, depth + 1)}`);
  if (parts.length === 0) return isList ? '[]' : '{}';
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${outer}${close}`;
}
