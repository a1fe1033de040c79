/** Public entry `coxswain/mastra`. */
export { mastraCapabilities } from './capabilities.ts';
export { coxswainMastra, type CoxswainMastra } from './coxswain-mastra.ts';
export type { RunSource } from '../host/adapter-options.ts';
export type { RefusalOptions } from '../host/adapter-options.ts';
