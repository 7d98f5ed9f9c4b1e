import type { Mutant } from './seeds.ts';

function mutant(name: string, file: string, find: string, replace: string, ...tests: string[]): Mutant {
  return { name: `hosts: ${name}`, changes: [{ file, find, replace }], tests };
}

const RESOLVE = ['src/gateway/resolve.test.ts'];
const AUTO = ['test/auto-model.test.ts'];
const CONFIG = ['src/config/hosts.test.ts'];
const FOUND = ['src/hosts/find-local.test.ts'];
const QUIRKS = ['src/wires/chat/message-quirks.test.ts'];

/** Faults by which a caller would be given another model, a host's loss would go unseen, or a requested feature be dropped silently. */
export const HOST_MUTANTS: readonly Mutant[] = [
  mutant(
    'a key’s list of models that does not bind its choice',
    'src/gateway/resolve.ts',
    'among: catalog.choices().filter((model) => mayUse(caller, model))',
    'among: catalog.choices()',
    ...RESOLVE,
  ),
  mutant(
    'a forbidden model taken for a deployment',
    'src/gateway/resolve.ts',
    'if (mayUse(caller, resolved.model)) return',
    "if (!mayUse(caller, resolved.model)) return { kind: 'unknown', refusal: notServed(requested) };\n    return",
    ...RESOLVE,
  ),
  mutant(
    'a simulated model chosen beside a real host',
    'src/catalog/catalog.ts',
    'return (model) => !hasRealHost ||',
    'return (model) => true ||',
    ...RESOLVE,
  ),
  mutant(
    'the most expensive model chosen',
    'src/gateway/choose-model.ts',
    'return a.worstNanousd < b.worstNanousd ? -1 : 1;',
    'return a.worstNanousd < b.worstNanousd ? 1 : -1;',
    ...AUTO,
  ),
  mutant(
    'a model chosen whose window is too small',
    'src/gateway/choose-model.ts',
    'if (fitsWindow(admission)) able.push(admission);',
    'able.push(admission);\n      if (fitsWindow(admission)) continue;',
    ...AUTO,
  ),
  mutant(
    'a loss that only a larger request makes',
    'src/catalog/loss.ts',
    'for (const aboveInputTokens of thresholds) {',
    'for (const aboveInputTokens of thresholds.slice(0, 0)) {',
    'src/catalog/loss.test.ts',
  ),
  mutant(
    'a cache rate left out that counts as nothing',
    'src/catalog/loss.ts',
    'rates.cacheReadNanousdPerMillion ?? rates.inputNanousdPerMillion',
    'rates.cacheReadNanousdPerMillion ?? 0n',
    'src/catalog/loss.test.ts',
  ),
  mutant(
    'a catalog with a price that falls by more than half',
    'src/catalog/compare.ts',
    'old !== null && now * 2n < old',
    'false',
    'test/catalog-update.test.ts',
  ),
  mutant(
    'a catalog with another digest than was given',
    'src/cli/commands/catalog.ts',
    "typeof sha256 === 'string' && createHash",
    "typeof sha256 !== 'string' && createHash",
    'test/catalog-update.test.ts',
  ),
  mutant(
    'a loss allowed without being asked for',
    'src/config/losses.ts',
    'offer.allowLoss || paid === null',
    'true || paid === null',
    ...CONFIG,
  ),
  mutant(
    'a default that nobody serves',
    'src/config/models.ts',
    '    ...defaultProblems(draft, catalog, selection, source),\n',
    '',
    ...CONFIG,
  ),
  mutant(
    'ports tried in hosted mode',
    'src/config/config.ts',
    'draft.local_hosts && !draft.hosted ?',
    'draft.local_hosts ?',
    ...CONFIG,
  ),
  mutant(
    'another gateway taken for a server of models',
    'src/hosts/list-models.ts',
    " || headers['x-gateway-request-id'] !== undefined",
    '',
    ...FOUND,
  ),
  mutant(
    'a stranger on the port taken for a server of models',
    'src/hosts/list-models.ts',
    'if (owner !== null && listed.some((model) => model.owned_by !== owner)) return null;',
    '',
    ...FOUND,
  ),
  mutant(
    'a found model that takes a name from the catalog',
    'src/hosts/served-models.ts',
    'const id = taken.has(found.id) ?',
    'const id = false ?',
    'src/hosts/served-models.test.ts',
  ),
  mutant(
    'traces sent to a host that refuses them',
    'src/wires/chat/message-quirks.ts',
    'for (const name of TRACE_MEMBERS) if (name !== wanted) edit.remove([...path, name]);',
    '',
    ...QUIRKS,
  ),
  mutant(
    'usage asked of a host that refuses the question',
    'src/wires/chat/splice-request.ts',
    "if (peek.stream && !isOmitted('stream_options', quirks))",
    'if (peek.stream)',
    ...QUIRKS,
  ),
  mutant(
    'a second spelling inside a message',
    'src/wires/fields/case-variants.ts',
    '  lookInside(body, path);\n}',
    '}',
    'src/wires/fields/case-variants.test.ts',
  ),
  mutant(
    'a part’s unknown member that weighs nothing',
    'src/wires/chat/measure.ts',
    '  visitRest(part, PART_MEMBERS[part.type], visitor);\n',
    '',
    'src/wires/chat/measure.test.ts',
  ),
  mutant(
    'a header of another gateway passed over',
    'src/gateway/understand.ts',
    '  refuseForeignHeaders(call.headers);\n',
    '',
    'src/gateway/understand.test.ts',
  ),
  mutant(
    'a price list of served models only',
    'src/main/prices.ts',
    'catalog.pricesJson)',
    'JSON.stringify(catalog.list().map(({ id }) => id)))',
    'test/host-keys-change.test.ts',
  ),
];
