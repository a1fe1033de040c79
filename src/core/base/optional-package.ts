import { hasCode } from './error.ts';

/** A bundler leaves the import as it is: an application that does not use the package does not have it. */
export async function optionalPackage<Module>(name: string): Promise<Module | undefined> {
  try {
    // The package has the types of its name.
    return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ name)) as Module;
  } catch (error) {
    if (hasCode(error, 'ERR_MODULE_NOT_FOUND') || hasCode(error, 'MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}
