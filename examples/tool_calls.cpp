// Keeps what an agent's tools were asked and answered, and finds why something was decided.
//
//   tool_calls [DIRECTORY]
#include <iostream>
#include <string_view>
#include <varve/varve.hpp>

namespace {

// A call and its result, which refers to it: both or none.
void call_tools(const varve::Session& session) {
  session.add_batch(R"([
    {"id":"ferry-call","type":"tool_call","trace_id":"trip",
     "content":{"tool":"find_ferry","arguments":{"from":"Kiel"}}},
    {"id":"ferry-result","type":"tool_result","trace_id":"trip","references":["ferry-call"],
     "content":{"leaves":"09:15"}}])");
  session.add_batch(R"([
    {"id":"weather-call","type":"tool_call","trace_id":"trip",
     "content":{"tool":"read_weather","arguments":{"at":"Kiel"}}},
    {"id":"weather-result","type":"tool_result","trace_id":"trip","references":["weather-call"],
     "content":{"wind":"storm"}}])");
}

void show(std::string_view title, const varve::Results& found) {
  std::cout << title << '\n';
  for (const std::string_view entry : found.entries()) std::cout << "  " << entry << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const varve::Store store(argc > 1 ? argv[1] : "memory:");
    const varve::Session session = store.create_session(R"({"agent_id":"planner"})");
    call_tools(session);
    session.add(R"({"id":"wait","type":"decision","content":"Take the ferry tomorrow",
                    "trace_id":"trip","references":["ferry-result"],
                    "relations":{"caused_by":["weather-result"]}})");

    show("The whole trace:",
         session.query(R"({"trace_id":"trip","sort_by":"time","order":"asc"})"));
    show("Why wait?", session.query(R"({"references":["wait"],"relation":"caused_by"})"));
  } catch (const varve::Error& error) {
    std::cerr << error.name() << ": " << error.what() << ' ' << error.details() << '\n';
    return 1;
  }
  return 0;
}
