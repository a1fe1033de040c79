/** Public entry `coxswain/mastra`. */
export { mastraCapabilities } from '../capabilities.ts';
export { coxswainMastra, type CoxswainMastra } from './coxswain-mastra.ts';
export type { RefusalOptions, RunSource } from '../host/adapter-options.ts';
