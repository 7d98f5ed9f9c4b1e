/** The part of YAML that simple files need: maps, lists, scalars and lists in brackets; anything else is an error. */
type Yaml = string | readonly Yaml[] | { readonly [name: string]: Yaml };

interface Line {
  readonly depth: number;
  readonly text: string;
  readonly number: number;
}

export function parsePlainYaml(text: string): Yaml {
  const lines = text.split('\n').flatMap((line, at): Line[] => {
    const content = line.replace(/(^|\s)#.*$/, '').trimEnd();
    if (content.trim() === '') return [];
    if (content.includes('\t')) throw new Error(`Line ${at + 1}: a tab.`);
    return [{ depth: content.length - content.trimStart().length, text: content.trim(), number: at + 1 }];
  });
  const [value, rest] = parseBlock(lines, lines[0]?.depth ?? 0);
  if (rest.length > 0) throw new Error(`Line ${rest[0]!.number}: indented as nothing before it.`);
  return value;
}

function parseBlock(lines: readonly Line[], depth: number): [Yaml, readonly Line[]] {
  return lines[0]?.text.startsWith('- ') ? parseList(lines, depth) : parseMap(lines, depth);
}

function parseList(lines: readonly Line[], depth: number): [Yaml, readonly Line[]] {
  const items: Yaml[] = [];
  let rest = lines;
  while (rest[0]?.depth === depth && rest[0].text.startsWith('- ')) {
    items.push(parseScalar(rest[0].text.slice(2), rest[0]));
    rest = rest.slice(1);
  }
  return [items, rest];
}

function parseMap(lines: readonly Line[], depth: number): [Yaml, readonly Line[]] {
  const members: Record<string, Yaml> = {};
  let rest = lines;
  while (rest[0]?.depth === depth) {
    const line = rest[0];
    const [, name, scalar] = /^([\w.-]+):(?: (.*))?$/.exec(line.text) ?? [];
    if (name === undefined) throw new Error(`Line ${line.number}: "${line.text}" is no member.`);
    if (Object.hasOwn(members, name)) throw new Error(`Line ${line.number}: ${name} stands twice.`);
    rest = rest.slice(1);
    if (scalar !== undefined) members[name] = parseScalar(scalar, line);
    else if (rest[0] !== undefined && rest[0].depth > depth) [members[name], rest] = parseBlock(rest, rest[0].depth);
    else members[name] = '';
  }
  return [members, rest];
}

function parseScalar(text: string, { number }: Line): Yaml {
  if (text.startsWith('[')) {
    if (!text.endsWith(']')) throw new Error(`Line ${number}: the list does not end.`);
    return text
      .slice(1, -1)
      .split(',')
      .map((item) => unquoted(item.trim()));
  }
  if (/^[{&*!|>%@`]/.test(text)) throw new Error(`Line ${number}: "${text}" is not plain.`);
  return unquoted(text);
}

function unquoted(text: string): string {
  return /^"(.*)"$/.exec(text)?.[1] ?? text;
}
