import { type Node, Visitor, visitorKeys } from 'oxc-parser';
import { linesOf, type SourceFile } from './source-files.ts';

/** A node with its position: the member of `parent` that holds it. */
export interface Place {
  readonly node: Node;
  readonly parent: Node | null;
  readonly key: string;
}

const placesOfTree = new WeakMap<Node, readonly Place[]>();

/** Every node of the file, parents first; found once, since many rules look at it. */
export function placesOf(file: SourceFile): readonly Place[] {
  const { program } = file;
  const known = placesOfTree.get(program);
  if (known !== undefined) return known;
  const places: Place[] = [];
  const enter = (node: Node, parent: Node | null, key: string): void => {
    places.push({ node, parent, key });
    for (const member of visitorKeys[node.type] ?? []) {
      const value: unknown = Reflect.get(node, member);
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) enter(child, node, member);
    }
  };
  enter(program, null, '');
  placesOfTree.set(program, places);
  return places;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The text of a string or of a template without expressions; null for anything else. */
export function literalText(node: Node): string | null {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral' || node.expressions.length > 0) return null;
  return node.quasis[0]?.value.cooked ?? null;
}

/** The name by which a member is read, written with a dot or as a literal in brackets. */
export function memberName(node: Node): string | null {
  if (node.type !== 'MemberExpression') return null;
  if (node.computed) return literalText(node.property);
  return node.property.type === 'Identifier' || node.property.type === 'PrivateIdentifier' ? node.property.name : null;
}

export function isImportMetaUrl(node: Node | undefined): boolean {
  return node?.type === 'MemberExpression' && node.object.type === 'MetaProperty' && memberName(node) === 'url';
}

interface FunctionSize {
  readonly start: number;
  readonly end: number;
  readonly lines: number;
}

const FUNCTIONS: readonly string[] = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
const MEMBERS: readonly string[] = ['MethodDefinition', 'Property', 'PropertyDefinition'];

/** Every function of the file: declarations, expressions, arrows, methods, accessors, constructors. */
export function functionsOf(file: SourceFile): FunctionSize[] {
  const found: FunctionSize[] = [];
  for (const { node, parent, key } of placesOf(file)) {
    if (!FUNCTIONS.includes(node.type) || !('body' in node) || node.body === null) continue;
    // A method begins with its name, which is in the node around the function.
    const isMember = key === 'value' && parent !== null && MEMBERS.includes(parent.type);
    const start = isMember ? parent.start : node.start;
    found.push({ start, end: node.end, lines: linesOf(file.text.slice(start, node.end)) });
  }
  return found;
}

/** Where tests are declared: a function around them only groups them. */
export function testsIn(file: SourceFile): number[] {
  const found: number[] = [];
  new Visitor({
    CallExpression: (node) => {
      if (declaresTest(node.callee)) found.push(node.start);
    },
  }).visit(file.program);
  return found;
}

function declaresTest(callee: Node): boolean {
  if (callee.type === 'Identifier') return ['describe', 'test', 'it', 'suite'].includes(callee.name);
  if (callee.type === 'MemberExpression') return declaresTest(callee.object);
  return callee.type === 'CallExpression' && declaresTest(callee.callee);
}

/** The words of strings, templates and patterns; the path of an import does not count. */
export function stringsOf(file: SourceFile): string[] {
  const found: string[] = [];
  for (const { node, key } of placesOf(file)) {
    if (key === 'source') continue;
    if (node.type === 'TemplateElement') found.push(node.value.cooked ?? node.value.raw);
    if (node.type !== 'Literal') continue;
    if (typeof node.value === 'string') found.push(node.value);
    else if ('regex' in node) found.push(node.regex.pattern);
  }
  return found;
}
