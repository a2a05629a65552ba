// The examples that README.md quotes.
//
//   node tests/readme.js --update      writes programs and what they print into README.md
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGE, run } from './support.js';

export const EXAMPLES = readdirSync(join(PACKAGE, 'examples')).sort();
const README = join(PACKAGE, 'README.md');
const QUOTE =
  /<!-- example: ([\w-]+\.js) -->\n```js\n(.*?)```\n<!-- prints -->\n```\n(.*?)```\n/gs;

/** The program of an example, and what it prints: with a new directory, and when run again. */
export async function current(name) {
  const path = join(PACKAGE, 'examples', name);
  const folder = mkdtempSync(join(tmpdir(), 'varve-example-'));
  const printed = [];
  try {
    for (const time of ['first', 'second']) {
      const { code, stdout, stderr } = await run(process.execPath, [path, join(folder, 'memory')]);
      if (code !== 0) throw new Error(`${name}, ${time} run: ${stderr}`);
      printed.push(stdout);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  if (printed[0] !== printed[1]) throw new Error(`${name} run again prints:\n${printed[1]}`);
  return { program: readFileSync(path, 'utf8'), printed: printed[0] };
}

/** {name: {program, printed}} as README.md has them. */
export function quotes() {
  const text = readFileSync(README, 'utf8');
  return Object.fromEntries([...text.matchAll(QUOTE)]
    .map(([, name, program, printed]) => [name, { program, printed }]));
}

if (process.argv[2] === '--update') {
  let text = readFileSync(README, 'utf8');
  for (const name of Object.keys(quotes())) {
    const { program, printed } = await current(name);
    text = text.replace(new RegExp(QUOTE.source.replace('([\\w-]+\\.js)', name), 's'), () =>
      `<!-- example: ${name} -->\n\`\`\`js\n${program}\`\`\`\n` +
      `<!-- prints -->\n\`\`\`\n${printed}\`\`\`\n`);
  }
  writeFileSync(README, text);
}
