/** Shows /openapi.json. Everything is written as text, never as HTML. */

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const operations = document.getElementById('operations');
const contents = document.getElementById('contents');
const notice = document.getElementById('notice');

function element(name, { className, text, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (className !== undefined) made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Words between backticks become code. */
function words(text) {
  return text.split('`').map((part, at) => (at % 2 === 1 ? element('code', { text: part }) : part));
}

/** Follows references within the document, such as #/components/schemas/Key. */
function resolve(spec, value) {
  if (value?.$ref === undefined) return value;
  const found = value.$ref
    .slice(2)
    .split('/')
    .reduce((part, name) => part[name], spec);
  return resolve(spec, found);
}

function typeOf(spec, schema) {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined) return schema.anyOf.map((choice) => typeOf(spec, choice)).join(' | ');
  if (schema.type === 'array') {
    const item = typeOf(spec, schema.items ?? {});
    return item.includes(' ') ? `(${item})[]` : `${item}[]`;
  }
  if (Array.isArray(schema.type)) return schema.type.join(' | ');
  if (schema.properties !== undefined) return `{ ${Object.keys(schema.properties).join(', ')} }`;
  return schema.type ?? 'any';
}

function described(text = '') {
  return element('span', {}, ...words(text));
}

function table(titles, rows) {
  const head = element('tr', {}, ...titles.map((text) => element('th', { text, scope: 'col' })));
  const lines = rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, cell))));
  const whole = element('table', {}, element('thead', {}, head), element('tbody', {}, ...lines));
  return element('div', { className: 'scroll' }, whole);
}

function members(spec, schema) {
  const { properties = {}, required = [] } = resolve(spec, schema);
  return Object.entries(properties).map(([name, member]) => [
    element('code', { text: name }),
    `${typeOf(spec, member)}${required.includes(name) ? '' : ', optional'}`,
    described(member.description ?? resolve(spec, member).description),
  ]);
}

function section(title, ...children) {
  return [element('h3', { text: title }), ...children];
}

function example(value) {
  return element('pre', { tabindex: '0' }, element('code', { text: JSON.stringify(value, null, 2) }));
}

function schemaSection(spec, title, content) {
  const json = content?.['application/json'];
  if (json === undefined) return [];
  const resolved = resolve(spec, json.schema);
  const rows = members(spec, json.schema);
  const row = resolved.properties?.data?.items;
  const parts = rows.length > 0 ? [table(['Member', 'Type', ''], rows)] : [];
  if (row?.$ref !== undefined)
    parts.push(...section(`Each ${typeOf(spec, row)}`, table(['Member', 'Type', ''], members(spec, row))));
  if (json.example !== undefined) parts.push(...section('Example', example(json.example)));
  return parts.length === 0 ? [] : section(title, ...parts);
}

function detailsOf(spec, operation) {
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(spec, parameter));
  const rows = parameters.map(({ name, in: place, required, schema, description }) => [
    element('code', { text: name }),
    `${place}, ${typeOf(spec, schema)}${required ? '' : ', optional'}`,
    described(description),
  ]);
  const [status, response] = Object.entries(operation.responses)[0];
  const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [
    element('code', { text: name }),
    typeOf(spec, resolve(spec, header).schema),
    described(resolve(spec, header).description),
  ]);
  return [
    ...(operation.description === undefined ? [] : [element('p', { text: operation.description })]),
    ...(rows.length > 0 ? section('Parameters', table(['Name', 'Type', ''], rows)) : []),
    ...schemaSection(spec, 'Request body', operation.requestBody?.content),
    ...(headers.length > 0 ? section('Response headers', table(['Name', 'Type', ''], headers)) : []),
    ...schemaSection(spec, `Response ${status}`, response.content),
  ];
}

function card(spec, path, method, operation) {
  const body = element('div', { className: 'body' });
  const summary = element(
    'summary',
    {},
    element('span', { className: `method ${method}`, text: method.toUpperCase() }),
    element('code', { className: 'path', text: path }),
    element('span', { className: 'says' }, ...words(operation.summary)),
  );
  const whole = element('details', { className: 'operation', id: operation.operationId }, summary, body);
  whole.addEventListener('toggle', () => {
    if (whole.open && body.childElementCount === 0) body.append(...detailsOf(spec, operation));
  });
  whole.dataset.words = `${method} ${path} ${operation.summary}`.toLowerCase();
  return whole;
}

function groupsOf(spec) {
  const groups = new Map();
  for (const [path, item] of Object.entries(spec.paths))
    for (const method of METHODS.filter((name) => item[name] !== undefined)) {
      const [tag] = item[method].tags;
      groups.set(tag, [...(groups.get(tag) ?? []), card(spec, path, method, item[method])]);
    }
  return groups;
}

function filter(groups, words) {
  let shown = 0;
  for (const { heading, link, cards } of groups) {
    const matching = cards.filter((one) => words.every((word) => one.dataset.words.includes(word)));
    for (const one of cards) one.hidden = !matching.includes(one);
    heading.hidden = matching.length === 0;
    link.hidden = matching.length === 0;
    shown += matching.length;
  }
  notice.textContent = shown === 0 ? 'No route matches.' : '';
  notice.hidden = shown > 0;
}

/** A link to an operation opens it. */
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.matches('details')) named.open = true;
  named?.scrollIntoView();
}

function show(spec) {
  document.getElementById('version').textContent = `version ${spec.info.version}`;
  const list = element('ul');
  const groups = [...groupsOf(spec)].map(([tag, cards]) => {
    const heading = element('h2', { id: `tag-${tag}`, text: tag });
    const link = element('li', {}, element('a', { href: `#tag-${tag}`, text: tag }));
    list.append(link);
    operations.append(heading, ...cards);
    return { heading, link, cards };
  });
  contents.append(list);
  const field = document.getElementById('filter');
  field.addEventListener('input', () => filter(groups, field.value.toLowerCase().split(/\s+/).filter(Boolean)));
  filter(groups, []);
  addEventListener('hashchange', openNamed);
  openNamed();
}

try {
  const response = await fetch('/openapi.json');
  if (!response.ok) throw new Error(`status ${response.status}`);
  show(await response.json());
} catch (error) {
  notice.textContent = `Cannot load /openapi.json: ${error.message}. Reload the page to try again.`;
}
