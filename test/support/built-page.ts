import { join } from 'node:path';

/** The folder of the viewer's page, which the set-up of the tests has built. */
export const BUILT_PAGE: string = join(process.env['COXSWAIN_BUILT'] ?? 'dist', 'viewer');
