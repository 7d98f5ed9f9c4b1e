import type { ManageRoute } from '../route.ts';

export const MODELS_ROUTES: readonly ManageRoute[] = [
  {
    method: 'GET',
    path: '/models',
    verb: 'models.list',
    access: 'anybody',
    // Which hosts serve a model is the operator's business.
    operatorMembers: ['hosts'],
    summary: 'The models that are served.',
  },
];
