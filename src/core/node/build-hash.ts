/** The bundler replaces this constant. */
declare const COXSWAIN_BUILD: string | undefined;

/** A hash of the sources. Undefined for code that was not built, which may change at any time. */
export const BUILD_HASH: string | undefined = typeof COXSWAIN_BUILD === 'string' ? COXSWAIN_BUILD : undefined;
