import { describe, expect, test } from 'vitest';
import { refusalOf } from '../../../test/messages-request.ts';
import { write } from '../../../test/messages-write.ts';
import { SAMPLING } from '../../../test/shortest-request.ts';
import type { Sampling } from '../../canonical/request.ts';
import type { HubRequestTerms } from '../hub.ts';

describe('sampling', () => {
  const sampled = (sampling: Partial<Sampling>, terms: Partial<HubRequestTerms> = {}) => {
    const reasoning = terms.thinking === undefined ? null : ({ effort: 'high', budgetTokens: null } as const);
    const {
      model: _,
      max_tokens,
      messages,
      thinking,
      output_config,
      ...rest
    } = write({ sampling: { ...SAMPLING, ...sampling }, reasoning }, terms);
    return rest;
  };

  test('is said as far as this wire can', () => {
    expect(sampled({ temperature: 0, topK: 3, stop: ['a', ' b'] })).toEqual({
      temperature: 0,
      top_k: 3,
      stop_sequences: ['a', ' b'],
    });
    expect(sampled({ topP: 0.5 })).toEqual({ top_p: 0.5 });
  });

  test('hosts take a temperature or top_p, not both, so the temperature is sent', () => {
    expect(sampled({ temperature: 0.7, topP: 0.9 })).toEqual({ temperature: 0.7 });
    expect(sampled({ temperature: 1, topP: 0.9 })).toEqual({ top_p: 0.9 });
  });

  test('what is the default anyway is not said', () => {
    expect(sampled({ temperature: 1, topP: 1, frequencyPenalty: 0, presencePenalty: 0 })).toEqual({});
  });

  test('thinking leaves little to choose', () => {
    const terms = { thinking: 'budget', reasoningEffort: 'high' } as const;
    expect(sampled({ temperature: 0.2, topP: 0.5, topK: 3, stop: ['a'] }, terms)).toEqual({ stop_sequences: ['a'] });
    expect(sampled({ topP: 0.97 }, terms)).toEqual({ top_p: 0.97 });
  });

  test.each(['none', 'high', null])(
    'models with fixed sampling do not get these fields, whatever the effort: %j',
    (effort) => {
      const terms = { thinking: 'effort', fixedSampling: true, reasoningEffort: effort } as const;
      expect(sampled({ temperature: 0.2, topP: 0.97, topK: 3, stop: ['a'] }, terms)).toEqual({ stop_sequences: ['a'] });
    },
  );

  test('the catalog decides whether sampling is fixed, not the way in which a model thinks', () => {
    const terms = { thinking: 'effort', fixedSampling: false, reasoningEffort: 'none' } as const;
    expect(sampled({ temperature: 0.2 }, terms)).toEqual({ temperature: 0.2 });
  });

  test.each<[Partial<Sampling>, string]>([
    [{ frequencyPenalty: 0.1 }, 'frequency_penalty'],
    [{ presencePenalty: -1 }, 'presence_penalty'],
    [{ seed: 7 }, 'seed'],
  ])('%j has no word here: %s', (sampling, param) => {
    expect(refusalOf(() => sampled(sampling))).toEqual({ code: 'unsupported_parameter', param });
  });

  test.each(['', ' ', '\n\t'])('%j alone cannot stop this model', (stop) => {
    expect(refusalOf(() => sampled({ stop: ['a', stop] }))).toEqual({ code: 'invalid_value', param: 'stop' });
  });
});
