import { existsSync } from 'node:fs';
import { stringifyJson } from '../../json/stringify.ts';
import { type ModelListView, type ModelView, modelListView } from '../../operator/view.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../table.ts';
import { usd } from '../text-values.ts';

export const modelsCommand: CommandSpec = {
  name: 'models [part]',
  summary: 'list the served models with prices per million tokens; PART filters by name',
  examples: ['tollgate models', 'tollgate models gpt'],
  async run(session, [part = '']) {
    const list = await listModels(session);
    const matching = list.data.filter((model) => matches(model, part));
    const shown = { ...list, data: matching };
    session.show({ result: shown, text: stringifyJson(shown) }, () =>
      matching.length === 0 ? '' : formatTable(COLUMNS, matching),
    );
    session.advise(`${matching.length} models, prices ${list.price_version}`);
    return matching.length === 0 && part !== '' ? EXIT.no : EXIT.ok;
  },
};

/** A server with these settings may run only on an existing data folder; without one, nothing needs to be opened. */
async function listModels(session: Session): Promise<ModelListView> {
  const config = session.config('read');
  if (config.store === null && existsSync(config.dataFolder)) {
    return (await session.ask('models.list', {}, { providerKeys: 'read' })).result;
  }
  const { composition } = session;
  return modelListView(composition.catalogFor(await composition.lookForHosts(config)));
}

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
