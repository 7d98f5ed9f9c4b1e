import { expect, test } from 'vitest';
import type { Sampling } from '../../canonical/request.ts';
import { Adjustments } from '../adjustments.ts';
import type { HubRequestTerms } from '../hub.ts';
import { writeTemperature } from './sampling.ts';

const TERMS: HubRequestTerms = {
  hostModel: 'm',
  stream: false,
  outputLimit: 20,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
};
const GIVEN: Sampling = {
  temperature: 0.2,
  topP: 1,
  topK: null,
  frequencyPenalty: null,
  presencePenalty: null,
  seed: null,
  stop: [],
};

function written(terms: Partial<HubRequestTerms>) {
  const adjustments = new Adjustments(false);
  return [writeTemperature(GIVEN, { ...TERMS, ...terms }, adjustments), adjustments.describe(null)];
}

test.each<[string, Partial<HubRequestTerms>]>([
  ['reasons at an effort', { fixedSampling: true, reasoningEffort: 'low' }],
  ['always reasons', { fixedSampling: true, alwaysReasons: true }],
])('a model with fixed sampling that %s gets no temperature, which is named', (_, terms) => {
  expect(written(terms)).toEqual([{}, 'temperature=dropped']);
});

test.each<[string, Partial<HubRequestTerms>]>([
  ['that does not reason', { fixedSampling: true, reasoningEffort: 'none' }],
  ['that may not reason by default', { fixedSampling: true, alwaysReasons: false }],
  ['without fixed sampling', { fixedSampling: false, alwaysReasons: true, reasoningEffort: 'high' }],
])('a model %s gets it', (_, terms) => {
  expect(written(terms)).toEqual([{ temperature: 0.2, top_p: 1 }, null]);
});
