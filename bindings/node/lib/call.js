// How a method of a class becomes a call of the library: `name` gives a promise and works on a
// thread of libuv, `nameSync` works at once.
import { asError } from './errors.js';
import { library } from './native.js';

// Node 18 before 18.18 has neither of them.
const dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
const asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** The token of an object's native counterpart. */
export const HANDLE = Symbol('handle');
/** Whether promises of this object are worked for at once: JavaScript has to answer meanwhile. */
export const AT_ONCE = Symbol('atOnce');
const CLOSE = Symbol('close');
const PARENT = Symbol('parent');

/** Closes what was dropped without being closed. Nothing acknowledged depends on it. */
const dropped = new FinalizationRegistry(({ close, handle }) => {
  library()[`${close}_async`](handle).catch(() => {});
});

/** Calls a raw function now. */
export function callNow(name, args) {
  try {
    return library()[name](...args);
  } catch (failure) {
    throw asError(failure);
  }
}

/**
 * What the library is to call for a function of the user's. What is none is refused here: nobody
 * would hear of it before the library calls, from a method that has nothing to do with it.
 */
export function callback(given, name, called) {
  if (given === undefined || given === null) return null;
  if (typeof given === 'function') return called;
  throw Object.assign(new TypeError(`${name} must be a function or null`),
    { code: 'VARVE_INVALID_ARGUMENT' });
}

/** Its use of `owner` also keeps that from being collected, and so closed, before the call ends. */
async function work(owner, name, args, gives, flag) {
  try {
    const given = await library()[`${name}_async`](...args, flag);
    return flag?.[0] && given === undefined ? undefined : gives(given, owner);
  } catch (failure) {
    throw asError(failure);
  }
}

const listeners = new WeakMap();

/**
 * Calls `abort` when the signal aborts; gives a function that takes that back. All calls with one
 * signal share a listener: Node warns of a leak when there are more than ten.
 */
function whenAborted(signal, abort) {
  let listener = listeners.get(signal);
  if (listener === undefined) {
    const aborts = new Set();
    listener = { aborts, tell: () => aborts.forEach((each) => each()) };
    listeners.set(signal, listener);
    signal.addEventListener('abort', listener.tell, { once: true });
  }
  const { aborts, tell } = listener;
  aborts.add(abort);
  return () => {
    aborts.delete(abort);
    if (aborts.size > 0) return;
    signal.removeEventListener('abort', tell);
    listeners.delete(signal);
  };
}

/** A promise that an abort rejects at once; what `start` gives after that is closed. */
function abortable(start, signal) {
  return new Promise((resolve, reject) => {
    const flag = new Int32Array(1);
    const abort = () => {
      Atomics.store(flag, 0, 1);
      reject(signal.reason);
    };
    const settle = (value) => (flag[0] ? value?.[dispose]?.() : resolve(value));
    start(flag).then(settle).catch(reject).finally(whenAborted(signal, abort));
  });
}

/**
 * Calls a raw function on a thread of libuv. A call that has not begun when it is aborted is not
 * begun any more; one that has goes on to its end.
 */
export async function callLater(owner, name, args, gives, options) {
  const signal = options?.signal;
  if (signal && typeof signal.throwIfAborted !== 'function') {
    throw new TypeError('signal must be an AbortSignal');
  }
  signal?.throwIfAborted();
  if (owner?.[AT_ONCE]) return gives(callNow(name, args), owner);
  if (!signal) return work(owner, name, args, gives);
  return abortable((flag) => work(owner, name, args, gives, flag), signal);
}

const same = (given) => given;

/**
 * Gives a class its methods. For each: the raw function it `calls`; `takes`, from the method's
 * arguments to the raw function's behind the handle; `gives`, from what that gave to the answer.
 * The promise variant has {signal} as one more argument.
 */
export function define(type, methods) {
  for (const [name, { calls, takes = () => [], gives = same }] of Object.entries(methods)) {
    const later = async function (...args) {
      const raw = [this[HANDLE], ...takes(...args)];
      return callLater(this, calls, raw, gives, args[takes.length]);
    };
    const now = function (...args) {
      return gives(callNow(calls, [this[HANDLE], ...takes(...args)]), this);
    };
    for (const [method, body] of [[name, later], [`${name}Sync`, now]]) {
      Object.defineProperty(body, 'name', { value: method });
      Object.defineProperty(type.prototype, method, {
        value: body, writable: true, configurable: true });
    }
  }
}

/** An object with a native counterpart, which lives until it is closed. */
export class Resource {
  #closed = false;
  #ending;  // the promise of the first close()

  /** `close` is the raw function that ends it; `parent` is kept from being collected before it. */
  constructor(handle, close, parent) {
    if (typeof handle !== 'bigint') {
      throw new TypeError('open it with Store.open, or by a method of a Store');
    }
    for (const [name, value] of [[HANDLE, handle], [CLOSE, close], [PARENT, parent]]) {
      Object.defineProperty(this, name, { value });  // not shown by console.log
    }
    dropped.register(this, { close, handle }, this);
  }

  get closed() {
    return this.#closed;
  }

  /** Whether this close is the first. */
  #begin() {
    const isFirst = !this.#closed;
    this.#closed = true;
    dropped.unregister(this);
    return isFirst;
  }

  /** Ends it; calls in flight finish first. Closing again is no error, and waits for the first. */
  async close() {
    if (this.#begin()) {
      this.#ending = callLater(this, this[CLOSE], [this[HANDLE]], same);
      await this.#ending;
    } else {
      await this.#ending?.catch(() => {});
    }
  }

  closeSync() {
    if (this.#begin()) callNow(this[CLOSE], [this[HANDLE]]);
  }

  [dispose]() {
    this.closeSync();
  }

  [asyncDispose]() {
    return this.close();
  }
}
