// How far the built-in estimate is from real tokenizers.
//
//   npm install gpt-tokenizer     (anywhere; the vocabularies are inside the package)
//   NODE_PATH=.../node_modules node compare.cjs contexts.jsonl
//
// contexts.jsonl is what contexts.py wrote. Prints estimate / count for each set: the least, the
// median, the most.
"use strict";
const fs = require("fs");

const counters = ["cl100k_base", "o200k_base"].map((name) => {
  const { encode } = require(`gpt-tokenizer/cjs/encoding/${name}`);
  return { name, count: (text) => encode(text, { allowedSpecial: "all" }).length };
});

const ratios = new Map();
for (const line of fs.readFileSync(process.argv[2], "utf8").split("\n")) {
  if (line === "") continue;
  const context = JSON.parse(line);
  for (const { name, count } of counters) {
    const key = `${context.set} ${context.format} ${context.budget} ${name}`;
    if (!ratios.has(key)) ratios.set(key, []);
    ratios.get(key).push(context.estimate / count(context.text));
  }
}
for (const [key, list] of ratios) {
  list.sort((a, b) => a - b);
  const at = (share) => list[Math.floor((list.length - 1) * share)].toFixed(3);
  console.log(`${key}: ${list.length} contexts, least ${at(0)}, median ${at(0.5)}, most ${at(1)}`);
}
