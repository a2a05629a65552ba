// A conversation that goes on after a restart, with varve.hpp: what was said lately, what is known
// for good, and what it all cost.
#include <cstdint>
#include <iostream>
#include <string_view>
#include <varve/varve.hpp>

namespace {

constexpr uint64_t kPromptTokensMax = 500;

void talk(const varve::Memory& memory) {
  memory.record("chat", R"({"role":"user","content":"I drink tea, not coffee."})");
  memory.record("chat", R"({"role":"assistant","content":"Noted: tea.",
                              "usage":{"input_tokens":412,"output_tokens":9,"cost_usd":0.002}})");
  memory.store(R"({"content":"Ada drinks tea, not coffee.","importance":0.9})");
}

void go_on(const varve::Store& store, const varve::Memory& memory) {
  memory.load("chat");
  std::cout << memory.context("chat", kPromptTokensMax) << '\n';
  const varve::Results known = memory.search(R"({"text":"what to drink?","limit":1})");
  for (const std::string_view entry : known.entries()) std::cout << entry << '\n';
  std::cout << store.usage(R"({"user_id":"ada"})") << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view place = argc > 1 ? argv[1] : "memory";
  constexpr std::string_view kAda = R"({"user_id":"ada","agent_id":"kitchen-helper"})";
  try {
    {
      const varve::Store store(place);
      talk(store.open_memory(kAda));
    }  // the program ends, and starts again
    const varve::Store store(place);
    go_on(store, store.open_memory(kAda));
  } catch (const varve::Error& error) {
    std::cerr << error.name() << ": " << error.what() << ' ' << error.details() << '\n';
    return 1;
  }
  return 0;
}
