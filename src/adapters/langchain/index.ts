/** Public entry `coxswain/langchain`. */
export { langchainCapabilities } from './capabilities.ts';
export { coxswainMiddleware, type LangchainHandles } from './coxswain-middleware.ts';
