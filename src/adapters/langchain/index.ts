export { langchainCapabilities } from '../capabilities.ts';
export type { RefusalOptions, RunSource } from '../host/adapter-options.ts';
export { coxswainMiddleware, type LangchainHandles } from './coxswain-middleware.ts';
