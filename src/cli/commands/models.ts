import { stringifyJson } from '../../json/stringify.ts';
import type { ModelView } from '../../operator/view.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { formatTable } from '../table.ts';
import { usd } from '../words.ts';

export const modelsCommand: CommandSpec = {
  name: 'models [part]',
  summary: 'list the served models with prices per million tokens; PART filters by name',
  examples: ['tollgate models', 'tollgate models gpt'],
  async run(session, [part = '']) {
    const answer = await session.ask('models.list', {}, { providerKeys: 'read', mayCreate: true });
    const matching = answer.result.data.filter((model) => matches(model, part));
    const shown = { ...answer.result, data: matching };
    session.show({ result: shown, text: stringifyJson(shown) }, () =>
      matching.length === 0 ? '' : formatTable(COLUMNS, matching),
    );
    session.advise(`${matching.length} models, prices ${answer.result.price_version}`);
    return matching.length === 0 && part !== '' ? EXIT.no : EXIT.ok;
  },
};

function matches(model: ModelView, part: string): boolean {
  return [model.id, ...model.aliases].some((name) => name.includes(part));
}

const COLUMNS = [
  { title: 'ID', text: (model: ModelView) => model.id },
  { title: 'WINDOW', align: 'right', text: (model: ModelView) => String(model.context_window) },
  { title: 'INPUT', align: 'right', text: (model: ModelView) => usd(model.pricing.input) },
  { title: 'OUTPUT', align: 'right', text: (model: ModelView) => usd(model.pricing.output) },
  { title: 'HOSTS', text: (model: ModelView) => model.hosts.join(',') },
  { title: 'CAPABILITIES', text: (model: ModelView) => model.caps.join(',') },
] as const;
