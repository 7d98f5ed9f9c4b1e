export type { FallbackModelOptions } from './fallback-model.ts';
export { createTollgate, type TollgateProvider, type TollgateSettings } from './provider.ts';
