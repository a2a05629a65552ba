#include "operations.h"

#include <fstream>
#include <functional>
#include <iterator>
#include <set>

namespace varve_conformance {
namespace {

using varve::Memory;
using varve::Results;
using varve::Session;
using varve::Store;
using varve::Window;

// The arguments of a step; it remembers which were asked for.
class Arguments {
 public:
  Arguments(Run& run, const json::object& given) : run_(run), given_(given) {}

  template <typename Object>
  Object& object(const char* name) {
    used_.insert(name);
    return run_.object<Object>(given_, name);
  }
  const json::value* find(const char* name) {
    used_.insert(name);
    return given_.if_contains(name);
  }
  // Text as it is; an object or an array as JSON; "" when it is absent.
  std::string text(const char* name) {
    const json::value* value = find(name);
    if (value == nullptr || value->is_null()) return "";
    if (value->is_string()) return std::string(value->get_string());
    if (value->is_object() && value->get_object().contains("$text")) {
      return std::string(value->at("$text").as_string());
    }
    return to_text(*value);
  }
  uint64_t number(const char* name, uint64_t otherwise = 0) {
    const json::value* value = find(name);
    return value == nullptr || value->is_null() ? otherwise : value->to_number<uint64_t>();
  }
  Run& run() { return run_; }
  void check_all_used() const {
    for (const auto& [name, value] : given_) {
      if (!used_.contains(std::string(name))) {
        throw Mismatch("the argument " + std::string(name) + " is not known");
      }
    }
  }

 private:
  Run& run_;
  const json::object& given_;
  std::set<std::string> used_;
};

using Operation = std::function<Answer(Arguments&)>;

Answer value(json::value given) { return {given, given}; }
Answer text(std::string_view given) { return value(json::value(given)); }
Answer document(std::string_view given) { return value(parse(given)); }
Answer nothing() { return value(nullptr); }

template <typename Object>
Answer handle(Arguments& a, Object&& object) {
  return {nullptr, a.run().open(std::forward<Object>(object))};
}

Answer found(Arguments& a, Results&& results) {
  json::value answer = parse(results.json());
  return {std::move(answer), a.run().open(std::move(results))};
}

// The handle is closed and the variable stays: what is called on it answers VARVE_BAD_HANDLE.
template <typename Object>
Operation closing(const char* name) {
  return [name](Arguments& a) {
    using Handle = decltype(std::declval<Object>().handle());
    a.object<Object>(name) = Object(static_cast<Handle>(nullptr));
    return nothing();
  };
}

template <typename Object, typename Method>
Operation report(const char* name, Method method) {
  return [=](Arguments& a) { return document((a.object<Object>(name).*method)()); };
}

template <typename Object, typename Method>
Operation report(const char* name, Method method, const char* first) {
  return [=](Arguments& a) { return document((a.object<Object>(name).*method)(a.text(first))); };
}

template <typename Object, typename Method>
Operation report(const char* name, Method method, const char* first, const char* second) {
  return [=](Arguments& a) {
    return document((a.object<Object>(name).*method)(a.text(first), a.text(second)));
  };
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Mismatch("there is no file " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

Answer replace_in_file(Arguments& a) {
  std::string content = read_file(a.text("path"));
  const std::string find = a.text("find");
  const size_t at = content.find(find);
  if (at == std::string::npos) throw Mismatch(find + " is not in the file");
  write_file(a.text("path"), content.replace(at, find.size(), a.text("replace")));
  return nothing();
}

Answer set_clock(Arguments& a) {
  auto& store = a.object<Store>("store");
  Callbacks& callbacks = a.run().callbacks(store);
  callbacks.now_ms = a.find("now_ms")->to_number<int64_t>();
  if (!callbacks.has_clock) store.set_clock([&callbacks] { return callbacks.now_ms; });
  callbacks.has_clock = true;
  return nothing();
}

Answer set_log(Arguments& a) {
  auto& store = a.object<Store>("store");
  Callbacks& callbacks = a.run().callbacks(store);
  const auto level = static_cast<int32_t>(a.number("level"));
  store.set_log(level, [&callbacks](int32_t at, std::string_view line) {
    callbacks.log_lines.push_back({{"level", at}, {"line", parse(line)}});
  });
  return nothing();
}

Answer set_progress(Arguments& a) {
  auto& session = a.object<Session>("session");
  const std::string answer = a.text("answer");
  if (answer.empty()) {
    session.set_progress(nullptr);
  } else {
    session.set_progress(
        [answer](std::string_view, uint64_t, uint64_t) { return answer == "go_on"; });
  }
  return nothing();
}

Answer remove_where(Arguments& a) {
  return value(a.object<Session>("session").remove_where(a.text("query_json"), a.text("reason")));
}

std::map<std::string, Operation> of_stores() {
  return {
      {"store_open",
       [](Arguments& a) { return handle(a, Store(a.text("uri"), a.text("config_json"))); }},
      {"store_close", closing<Store>("store")},
      {"store_sync", [](Arguments& a) { return a.object<Store>("store").sync(), nothing(); }},
      {"store_sessions", report<Store>("store", &Store::sessions, "filter_json")},
      {"store_delete_session",
       [](Arguments& a) {
         return a.object<Store>("store").delete_session(a.text("id")), nothing();
       }},
      {"store_query",
       [](Arguments& a) { return found(a, a.object<Store>("store").query(a.text("query_json"))); }},
      {"store_backup", report<Store>("store", &Store::backup, "path", "options_json")},
      {"store_restore", report<Store>("store", &Store::restore, "path", "options_json")},
      {"store_sweep", report<Store>("store", &Store::sweep)},
      {"store_stats", report<Store>("store", &Store::stats)},
      {"store_usage", report<Store>("store", &Store::usage, "filter_json")},
      {"store_metrics", [](Arguments& a) { return text(a.object<Store>("store").metrics()); }},
      {"store_set_log", set_log},
      {"store_set_clock",
       [](Arguments& a) { return a.object<Store>("store").set_clock(nullptr), nothing(); }},
      {"session_create",
       [](Arguments& a) {
         return handle(a, a.object<Store>("store").create_session(a.text("options_json")));
       }},
      {"session_open",
       [](Arguments& a) { return handle(a, a.object<Store>("store").open_session(a.text("id"))); }},
      {"memory_open",
       [](Arguments& a) {
         return handle(a, a.object<Store>("store").open_memory(a.text("options_json")));
       }},
  };
}

std::map<std::string, Operation> of_sessions() {
  return {
      {"session_close", closing<Session>("session")},
      {"session_sync", [](Arguments& a) { return a.object<Session>("session").sync(), nothing(); }},
      {"session_id", [](Arguments& a) { return text(a.object<Session>("session").id()); }},
      {"session_metadata", report<Session>("session", &Session::metadata)},
      {"session_stats", report<Session>("session", &Session::stats)},
      {"session_files", report<Session>("session", &Session::files)},
      {"session_tags", report<Session>("session", &Session::tags)},
      {"session_index", report<Session>("session", &Session::index)},
      {"session_update",
       [](Arguments& a) {
         return a.object<Session>("session").update(a.text("patch_json")), nothing();
       }},
      {"session_set_progress", set_progress},
      {"session_add",
       [](Arguments& a) { return text(a.object<Session>("session").add(a.text("entry_json"))); }},
      {"session_add_batch",
       [](Arguments& a) {
         return document(a.object<Session>("session").add_batch(a.text("entries")));
       }},
      {"session_get", report<Session>("session", &Session::get, "id")},
      {"session_delete",
       [](Arguments& a) {
         return a.object<Session>("session").remove(a.text("id"), a.text("reason")), nothing();
       }},
      {"session_delete_where", remove_where},
      {"session_query",
       [](Arguments& a) {
         return found(a, a.object<Session>("session").query(a.text("query_json")));
       }},
      {"session_count",
       [](Arguments& a) {
         return value(a.object<Session>("session").count(a.text("query_json")));
       }},
      {"session_verify", report<Session>("session", &Session::verify, "options_json")},
      {"session_repair", report<Session>("session", &Session::repair, "options_json")},
      {"session_compact", report<Session>("session", &Session::compact, "options_json")},
      {"session_purge", report<Session>("session", &Session::purge, "options_json")},
      {"session_migrate", report<Session>("session", &Session::migrate, "options_json")},
      {"session_rebuild_index",
       report<Session>("session", &Session::rebuild_index, "options_json")},
      {"session_export",
       [](Arguments& a) {
         return text(a.object<Session>("session").export_text(a.text("format")));
       }},
      {"session_import", report<Session>("session", &Session::import_text, "jsonl")},
      {"session_export_file",
       report<Session>("session", &Session::export_file, "path", "options_json")},
      {"session_import_file",
       report<Session>("session", &Session::import_file, "path", "options_json")},
  };
}

Answer set_token_counter(Arguments& a) {
  auto& store = a.object<Store>("store");
  const std::string counter = a.text("counter");
  if (counter.empty()) {
    store.set_token_counter(nullptr);
  } else {
    store.set_token_counter([counter](std::string_view text) -> uint64_t {
      if (counter != "bytes") throw Mismatch("no tokenizer here");
      return text.size();
    });
  }
  return nothing();
}

Answer put_vector(Arguments& a) {
  std::vector<float> values;
  for (const json::value& number : a.find("values")->as_array()) {
    values.push_back(number.to_number<float>());
  }
  return a.object<Session>("session").put_vector(a.text("id"), values), nothing();
}

std::map<std::string, Operation> of_what_stands_beside_the_log() {
  return {
      {"store_set_token_counter", set_token_counter},
      {"session_put_vector", put_vector},
      {"kv_set",
       [](Arguments& a) {
         return a.object<Session>("session").kv_set(a.text("key"), a.text("value")), nothing();
       }},
      {"kv_get",
       [](Arguments& a) { return text(a.object<Session>("session").kv_get(a.text("key"))); }},
      {"kv_delete",
       [](Arguments& a) {
         return a.object<Session>("session").kv_remove(a.text("key")), nothing();
       }},
      {"kv_list", report<Session>("session", &Session::kv_list)},
      {"transcript_append",
       [](Arguments& a) {
         auto& session = a.object<Session>("session");
         return session.transcript_append(a.text("role"), a.text("content")), nothing();
       }},
      {"transcript_last",
       [](Arguments& a) {
         return document(a.object<Session>("session").transcript_last(a.number("n", SIZE_MAX)));
       }},
      {"context_build", report<Session>("session", &Session::build_context, "request_json")},
      {"context_record",
       [](Arguments& a) {
         return text(a.object<Session>("session").record(a.text("kind"), a.text("payload_json")));
       }},
  };
}

std::map<std::string, Operation> of_windows_and_memories() {
  return {
      {"window_new", [](Arguments& a) { return handle(a, Window(a.number("capacity"))); }},
      {"window_add",
       [](Arguments& a) {
         return a.object<Window>("window").add(a.text("entry_json")), nothing();
       }},
      {"window_recent",
       [](Arguments& a) {
         return document(a.object<Window>("window").recent(a.number("n", SIZE_MAX)));
       }},
      {"window_text", [](Arguments& a) { return text(a.object<Window>("window").text()); }},
      {"window_clear", [](Arguments& a) { return a.object<Window>("window").clear(), nothing(); }},
      {"window_size", [](Arguments& a) { return value(a.object<Window>("window").size()); }},
      {"window_free", closing<Window>("window")},
      {"memory_record",
       [](Arguments& a) {
         return text(a.object<Memory>("memory").record(a.text("session_id"), a.text("entry_json")));
       }},
      {"memory_context",
       [](Arguments& a) {
         return document(
             a.object<Memory>("memory").context(a.text("session_id"), a.number("max_tokens")));
       }},
      {"memory_load",
       [](Arguments& a) {
         return a.object<Memory>("memory").load(a.text("session_id")), nothing();
       }},
      {"memory_save",
       [](Arguments& a) {
         return a.object<Memory>("memory").save(a.text("session_id")), nothing();
       }},
      {"memory_clear", [](Arguments& a) { return a.object<Memory>("memory").clear(), nothing(); }},
      {"memory_store",
       [](Arguments& a) { return text(a.object<Memory>("memory").store(a.text("entry_json"))); }},
      {"memory_search",
       [](Arguments& a) {
         return found(a, a.object<Memory>("memory").search(a.text("query_json")));
       }},
      {"memory_delete",
       [](Arguments& a) {
         return a.object<Memory>("memory").remove(a.text("id"), a.text("reason")), nothing();
       }},
      {"memory_close", closing<Memory>("memory")},
  };
}

std::map<std::string, Operation> of_the_rest() {
  return {
      {"abi_version", [](Arguments&) { return value(varve_abi_version()); }},
      {"version", [](Arguments&) { return text(varve_version()); }},
      {"status_name",
       [](Arguments& a) {
         return text(varve::Error(static_cast<varve_status_t>(a.number("status")), "").name());
       }},
      {"results_count", [](Arguments& a) { return value(a.object<Results>("results").size()); }},
      {"results_json", [](Arguments& a) { return document(a.object<Results>("results").json()); }},
      {"results_entry",
       [](Arguments& a) {
         return document(a.object<Results>("results").entry(a.number("index")));
       }},
      {"results_score",
       [](Arguments& a) { return value(a.object<Results>("results").score(a.number("index"))); }},
      {"results_next",
       [](Arguments& a) {
         const std::string_view cursor = a.object<Results>("results").next();
         return cursor.empty() ? nothing() : text(std::string(cursor));
       }},
      {"results_free", closing<Results>("results")},
      {"clock", set_clock},
      {"log_lines",
       [](Arguments& a) { return value(a.run().callbacks(a.object<Store>("store")).log_lines); }},
      {"file_write",
       [](Arguments& a) { return write_file(a.text("path"), a.text("text")), nothing(); }},
      {"file_read", [](Arguments& a) { return text(read_file(a.text("path"))); }},
      {"file_replace", replace_in_file},
  };
}

const std::map<std::string, Operation>& operations() {
  static const std::map<std::string, Operation> all = [] {
    std::map<std::string, Operation> merged = of_stores();
    merged.merge(of_sessions());
    merged.merge(of_what_stands_beside_the_log());
    merged.merge(of_windows_and_memories());
    merged.merge(of_the_rest());
    return merged;
  }();
  return all;
}

}  // namespace

Answer carry_out(Run& run, const std::string& operation, const json::object& arguments) {
  const auto found = operations().find(operation);
  if (found == operations().end()) throw Mismatch("the operation is not known");
  Arguments given(run, arguments);
  Answer answer = found->second(given);
  given.check_all_used();
  return answer;
}

}  // namespace varve_conformance
