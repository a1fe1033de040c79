export { langchainCapabilities } from './capabilities.ts';
export type { RunSource } from '../host/adapter-options.ts';
export { coxswainMiddleware, type LangchainHandles } from './coxswain-middleware.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
