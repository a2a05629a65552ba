// Errors: what the library answered, and what kept it from being loaded.
import { VARVE_INVALID_ARGUMENT } from './constants.js';

/** A call answered with something other than VARVE_OK. `code` is the name of the status. */
export class VarveError extends Error {
  constructor({ status, code, message, details, ...rest }) {
    super(message, 'cause' in rest ? { cause: rest.cause } : undefined);
    this.name = 'VarveError';
    this.status = status;
    this.code = code;
    this.details = typeof details === 'string' ? JSON.parse(details || '{}') : (details ?? {});
  }
}

/** No libvarve could be loaded. `tried` tells every path and why it was not taken. */
export class LoadError extends Error {
  constructor(tried, abiWanted) {
    const lines = tried.map(({ path, from, reason }) => `\n  ${path} (${from}): ${reason}`);
    super(`cannot load libvarve with ABI version ${abiWanted}; set VARVE_LIBRARY to its path, or ` +
      `give it to load(); tried:${lines.join('')}`);
    this.name = 'LoadError';
    this.code = 'VARVE_NOT_LOADED';
    this.tried = tried;
    this.abiWanted = abiWanted;
    this.abiFound = tried.find(({ abiFound }) => abiFound !== undefined)?.abiFound;
  }
}

/** What is found to be wrong before the library is asked. */
export const invalidArgument = (message) => new VarveError({
  status: VARVE_INVALID_ARGUMENT, code: 'VARVE_INVALID_ARGUMENT', message });

/** What a raw function threw, as an Error whose stack tells where the call was made. */
export function asError(failure) {
  return failure instanceof Error ? failure : new VarveError(failure);
}
