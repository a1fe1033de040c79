import { hasCode } from './error.ts';

/** Imports an optional package. Returns undefined if the package is not installed. */
export async function optionalPackage<Module>(load: () => Promise<Module>): Promise<Module | undefined> {
  try {
    return await load();
  } catch (error) {
    if (hasCode(error, 'ERR_MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}
