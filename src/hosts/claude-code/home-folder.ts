/** Like `os.homedir()`, but loads `node:os` only on Windows or if `HOME` is empty. */
export function findHomeFolder({ HOME }: NodeJS.ProcessEnv): string {
  if (process.platform !== 'win32' && HOME !== undefined && HOME !== '') return HOME;
  return process.getBuiltinModule('node:os').homedir();
}
