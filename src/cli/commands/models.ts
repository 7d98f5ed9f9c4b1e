import { stringifyJson } from '../../json/stringify.ts';
import { counted } from '../../kit/counted.ts';
import type { HoldFactorView } from '../../operator/hold-factors.ts';
import { type ModelListView, type ModelView, modelListView } from '../../operator/view.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../table.ts';
import { usd } from '../text-values.ts';

export const modelsCommand: CommandSpec = {
  name: 'models [part]',
  summary: 'list the served models with prices per million tokens; PART filters by name',
  options: [
    ['--holds', 'show how prompts are counted for holds, instead of prices'],
    ['--reset-holds <model>', "forget the overruns of a model, so that the catalog's factor applies again"],
  ],
  examples: ['tollgate models', 'tollgate models gpt', 'tollgate models --holds'],
  async run(session, [part = ''], { holds, resetHolds }) {
    if (typeof resetHolds === 'string') return resetHoldFactor(session, resetHolds);
    if (holds === true) return showHoldFactors(session, part);
    const list = await listModels(session);
    const matching = list.data.filter((model) => matches(model, part));
    const shown = { ...list, data: matching };
    session.show({ result: shown, text: stringifyJson(shown) }, () =>
      matching.length === 0 ? '' : formatTable(COLUMNS, matching),
    );
    session.advise(`${counted(matching.length, 'model')}, prices ${list.price_version}`);
    return matching.length === 0 && part !== '' ? EXIT.no : EXIT.ok;
  },
};

async function showHoldFactors(session: Session, part: string): Promise<number> {
  const { result } = await session.ask('models.holds', {}, { secrets: 'read' });
  const matching = result.data.filter(({ model }) => model.includes(part));
  const shown = { ...result, data: matching };
  session.show({ result: shown, text: stringifyJson(shown) }, () =>
    matching.length === 0 ? '' : formatTable(HOLD_COLUMNS, matching),
  );
  return matching.length === 0 && part !== '' ? EXIT.no : EXIT.ok;
}

async function resetHoldFactor(session: Session, model: string): Promise<number> {
  const answer = await session.ask('models.resetholds', { model }, { secrets: 'read' });
  const { model: id, forgotten_accounts: accounts } = answer.result;
  session.show(answer, () => '');
  session.advise(
    `Overruns of ${counted(accounts, 'account')} with ${id} are forgotten. A running server applies this within a minute.`,
  );
  return EXIT.ok;
}

/** A server with these settings may run only where there is a ledger; without one, nothing needs to be opened. */
async function listModels(session: Session): Promise<ModelListView> {
  const config = session.config('read');
  const { composition } = session;
  if (config.store === null && composition.hasLedger(config.dataFolder)) {
    return (await session.ask('models.list', {}, { secrets: 'read' })).result;
  }
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

const HOLD_COLUMNS = [
  { title: 'ID', text: (row: HoldFactorView) => row.model },
  { title: 'TOKENIZER', text: (row: HoldFactorView) => row.tokenizer ?? 'unknown' },
  { title: 'FACTOR', align: 'right', text: (row: HoldFactorView) => String(row.raised_to ?? row.factor) },
  { title: 'OVERRUNS', align: 'right', text: (row: HoldFactorView) => String(row.overrun_accounts) },
  { title: 'SOURCE', text: (row: HoldFactorView) => sourceOf(row) },
] as const;

function sourceOf({ raised_to, factor, source }: HoldFactorView): string {
  return raised_to === null ? source : `raised from ${factor} after overruns; ${source}`;
}
