/** What those who write an adapter import from `coxswain/host`. */
export type { AdapterCapabilities, PointCapability } from './adapter-capabilities.ts';
export type { AdapterOptions } from './adapter-options.ts';
export { guarded, type Guard } from './guarded.ts';
