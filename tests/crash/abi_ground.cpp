#include "abi_ground.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace varve::crash {
namespace {

namespace fs = std::filesystem;

std::string new_directory() {
  std::string pattern = (fs::temp_directory_path() / "varve-ground-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  return pattern;
}

void write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

constexpr const char* kEntries[] = {
    R"({"id":"a","type":"finding","tags":["t","x.y"],"content":"kettle of tea, not coffee",)"
    R"("timestamp":"2026-01-01T00:00:00Z"})",
    R"({"id":"b","type":"message","content":{"role":"user","message":"where is the tea cup?"},)"
    R"("usage":{"input_tokens":5},"timestamp":"2026-01-02T00:00:00Z"})",
    R"({"id":"c","type":"finding","content":"a kettle again","references":["a"],)"
    R"("timestamp":"2026-01-03T00:00:00Z"})",
    R"({"id":"gone","type":"note","content":"to be forgotten"})",
    R"({"id":"e","type":"note","tags":["u"],"content":"wood","ttl_seconds":100000000})"};

void fill_s(varve_store_t* store) {
  varve_session_t* s = nullptr;
  ASSERT_EQ(varve_session_create(store, R"({"session_id":"s","user_id":"me"})", kNul, &s, nullptr),
            VARVE_OK);
  for (const char* entry : kEntries) {
    ASSERT_EQ(varve_session_add(s, entry, kNul, nullptr, nullptr, nullptr), VARVE_OK);
  }
  ASSERT_EQ(varve_session_delete(s, "gone", kNul, nullptr, 0, nullptr), VARVE_OK);
  const float vector[] = {1, 2};
  ASSERT_EQ(varve_session_put_vector(s, "a", kNul, vector, 2, nullptr), VARVE_OK);
  ASSERT_EQ(varve_session_put_vector(s, "b", kNul, vector, 2, nullptr), VARVE_OK);
  ASSERT_EQ(varve_kv_set(s, "k", kNul, "v", kNul, nullptr), VARVE_OK);
  ASSERT_EQ(varve_transcript_append(s, "user", kNul, "hello", kNul, nullptr), VARVE_OK);
  ASSERT_EQ(varve_transcript_append(s, "agent", kNul, "good day", kNul, nullptr), VARVE_OK);
  varve_session_close(s);
}

void fill_another(varve_store_t* store, const char* options) {
  varve_session_t* session = nullptr;
  ASSERT_EQ(varve_session_create(store, options, kNul, &session, nullptr), VARVE_OK);
  ASSERT_EQ(varve_session_add(session, R"({"id":"ta","type":"finding","content":"tea"})", kNul,
                              nullptr, nullptr, nullptr),
            VARVE_OK);
  varve_session_close(session);
}

// Made once; the copies are the runs'.
class Template {
 public:
  Template() : root_(new_directory()) { fill(); }
  ~Template() { fs::remove_all(root_); }
  Template(const Template&) = delete;
  Template& operator=(const Template&) = delete;
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  void fill() {
    const std::string uri = root_ + "/store";
    varve_store_t* store = nullptr;
    ASSERT_EQ(varve_store_open(uri.c_str(), kNul, nullptr, 0, &store, nullptr), VARVE_OK);
    fill_s(store);
    fill_another(store, R"({"session_id":"t","user_id":"me"})");
    fill_another(store, R"({"session_id":"r"})");
    const std::string backup = root_ + "/backup";
    ASSERT_EQ(
        varve_store_backup(store, backup.c_str(), kNul, nullptr, 0, nullptr, nullptr, nullptr),
        VARVE_OK);
    ASSERT_EQ(varve_store_delete_session(store, "r", kNul, nullptr), VARVE_OK);
    varve_store_close(store);
    const std::string old = uri + "/sessions/old";
    fs::create_directory(old);
    write(old + "/memory.jsonl",
          R"({"timestamp":"2026-01-01T00:00:00Z","id":"o1","type":"finding","content":"one"})"
          "\n"
          R"({"timestamp":"2026-01-01T00:00:00Z","id":"o2","type":"finding","content":"two"})"
          "\n");
    write(root_ + "/in.jsonl", R"({"id":"n1","type":"note","content":"new"})"
                               "\n"
                               R"({"id":"n2","type":"note","content":"newer"})"
                               "\n");
  }

  std::string root_;
};

}  // namespace

Outs::~Outs() {
  varve_free(text);
  varve_results_free(results);
  varve_window_free(window);
  varve_memory_close(memory);
  varve_session_close(session);
  varve_store_close(store);
  varve_error_free(error);
}

Ground::Ground(const char* config) : config_(config), root_(new_directory()) {
  static const Template kTemplate;
  fs::copy(kTemplate.root(), root_, fs::copy_options::recursive);
  paths = {path("store"),  path("new"),       path("copy"),
           path("backup"), path("out.jsonl"), path("in.jsonl")};
}

Ground::~Ground() {
  close();
  fs::remove_all(root_);
}

varve_session_t* Ground::open_session(const char* id) {
  varve_session_t* opened = nullptr;
  EXPECT_EQ(varve_session_open(store, id, kNul, &opened, nullptr), VARVE_OK) << id;
  return opened;
}

void Ground::open() {
  ASSERT_EQ(varve_store_open(path("store").c_str(), kNul, config_, kNul, &store, nullptr),
            VARVE_OK);
}

void Ground::open_memory() {
  ASSERT_EQ(varve_memory_open(store, R"({"user_id":"me"})", kNul, &memory, nullptr), VARVE_OK);
}

void Ground::open_all() {
  open();
  session = open_session("s");
  open_memory();
  ASSERT_EQ(varve_memory_record(memory, "chat", kNul, R"({"role":"user","content":"Hello"})", kNul,
                                nullptr, nullptr, nullptr),
            VARVE_OK);
  ASSERT_EQ(varve_memory_store(memory, R"({"id":"long","content":"likes tea"})", kNul, nullptr,
                               nullptr, nullptr),
            VARVE_OK);
  ASSERT_EQ(varve_window_new(2, &window, nullptr), VARVE_OK);
  for (const char* message :
       {R"({"role":"user","content":"one"})", R"({"role":"user","content":"two"})"}) {
    ASSERT_EQ(varve_window_add(window, message, kNul, nullptr), VARVE_OK);
  }
}

void Ground::close() {
  varve_error_free(error);
  varve_results_free(results);
  varve_window_free(window);
  varve_memory_close(memory);
  varve_session_close(old);
  varve_session_close(session);
  varve_store_close(store);
  error = nullptr;
  results = nullptr;
  window = nullptr;
  memory = nullptr;
  old = nullptr;
  session = nullptr;
  store = nullptr;
}

std::optional<std::string> entry_of(varve_session_t* session, const std::string& id) {
  Outs outs;
  const varve_status_t status =
      varve_session_get(session, id.data(), id.size(), &outs.text, &outs.len, &outs.error);
  if (status == VARVE_NOT_FOUND) return std::nullopt;
  EXPECT_EQ(status, VARVE_OK) << id << ": " << varve_error_message(outs.error);
  return outs.text == nullptr ? std::string() : std::string(outs.text, outs.len);
}

}  // namespace varve::crash
