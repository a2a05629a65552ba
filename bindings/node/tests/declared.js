// What the types of the package declare, to be compared with what there is.
import { readFileSync } from 'node:fs';

const HEAD = /^export interface (\w+)(?: extends (\w+))? \{$/;
const MEMBER = /^ {2}(\w+)(\?)?: (.*);$/;
const OF_ONES_OWN = /^ {2}\[\w+: string\]: any;$/;

/** The interfaces of a file in lib/: the members of each, and whether there may be others. */
export function interfacesOf(file) {
  const found = new Map();
  let open = null;
  for (const line of readFileSync(new URL(`../lib/${file}`, import.meta.url), 'utf8').split('\n')) {
    const [, name, parent] = HEAD.exec(line) ?? [];
    const [, member, mark, type] = MEMBER.exec(line) ?? [];
    if (name !== undefined) {
      open = { members: new Map(found.get(parent)?.members), isOpen: false };
      found.set(name, open);
    } else if (line === '}') {
      open = null;
    } else if (open !== null && member !== undefined) {
      open.members.set(member, { optional: mark !== undefined, type });
    } else if (open !== null && OF_ONES_OWN.test(line)) {
      open.isOpen = true;
    } else if (open !== null && !/^ {2}\/\*\* .* \*\/$/.test(line)) {
      throw new Error(`${file}: a line that the test does not know: ${line}`);
    }
  }
  return found;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Compares values with interfaces, and remembers which members it has seen. */
export class Comparison {
  constructor(...files) {
    this.interfaces = new Map(files.flatMap((file) => [...interfacesOf(file)]));
    this.seen = new Set();
    this.wrong = [];
  }

  /** A value, and all that is in it, is of this type. */
  compare(type, value, place = type) {
    const list = /^(?:readonly )?(\w+)\[\]$/.exec(type);
    const record = /^Record<string, (.*)>$/.exec(type);
    const choices = type.split(' | ');
    if (list) {
      if (!Array.isArray(value)) this.wrong.push(`${place} is no list`);
      else for (const item of value) this.compare(list[1], item, `${place}[]`);
    } else if (record) {
      for (const item of Object.values(value)) this.compare(record[1], item, `${place}.*`);
    } else if (this.interfaces.has(choices.at(-1)) && isObject(value)) {
      this.compareMembers(choices.at(-1), value);
    } else if (!choices.some((choice) => this.fits(choice, value))) {
      this.wrong.push(`${place} is ${JSON.stringify(value)}, not ${type}`);
    }
  }

  compareMembers(name, value) {
    const { members, isOpen } = this.interfaces.get(name);
    for (const [member, { optional, type }] of members) {
      const place = `${name}.${member}`;
      if (Object.hasOwn(value, member)) {
        this.seen.add(place);
        this.compare(type, value[member], place);
      } else if (!optional) {
        this.wrong.push(`${place} is not there`);
      }
    }
    const others = Object.keys(value).filter((member) => !members.has(member));
    if (!isOpen && others.length > 0) this.wrong.push(`${name} has no member ${others}`);
  }

  fits(choice, value) {
    if (choice === 'any') return true;
    if (choice === 'null') return value === null;
    if (choice === 'true') return value === true;
    if (choice.startsWith("'")) return value === choice.slice(1, -1);
    if (choice === 'Time') return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
    if (choice === 'Durability') return ['commit', 'interval', 'os'].includes(value);
    return typeof value === choice;
  }

  /** Members of these interfaces that no value had. */
  neverSeen() {
    return [...this.interfaces].flatMap(([name, { members }]) =>
      [...members.keys()].map((member) => `${name}.${member}`))
      .filter((place) => !this.seen.has(place));
  }
}
