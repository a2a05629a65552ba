// varve for C++20: the C headers with destructors. Link libvarve and nothing else.
//
//   varve::Store store("./memory");
//   varve::Session session = store.session("kitchen", R"({"user_id":"ann"})");
//   session.add(R"({"type":"finding","content":"Ann drinks tea, not coffee"})");
//   varve::Results found = session.query(R"({"question":"What does Ann drink?"})");
//   for (std::string_view entry : found.entries()) std::cout << entry << '\n';
//
// The classes of namespace varve throw varve::Error. Those of varve::checked have the same members
// and return a varve::Result<T> instead, which is a value or an Error:
//
//   varve::checked::Result<varve::checked::Store> store = varve::checked::Store::open("./memory");
//   if (!store) std::cerr << store.error().what() << '\n';
//
// Text goes in as std::string_view and comes out as std::string; options, queries, entries and
// answers are the JSON of the C headers, which explain each function: Session::add is
// varve_session_add in varve/entry.h. What somebody said becomes JSON by varve::json_string:
//
//   session.add(R"({"type":"message","content":)" + varve::json_string(said) + "}");
//
// Objects can be moved but not copied. Several threads may use
// one at once (Results: one at a time), as long as none moves or destroys it meanwhile. A store
// must outlive what was opened from it.
//
// Functions given as callbacks may throw; each setter says what happens then. One that was replaced
// goes as soon as no thread is inside it, the last one with its object. Apart from that,
// only std::bad_alloc and, in namespace varve, Error are thrown.
#ifndef VARVE_VARVE_HPP
#define VARVE_VARVE_HPP

#if __cplusplus <= 201703L
#error \
    "varve/varve.hpp needs C++20: -std=c++20, or target_compile_features(... cxx_std_20) in CMake"
#else

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/result.hpp"
#include "varve/varve.h"

namespace varve {
inline namespace wrapper {

// What a query found: see varve/query.h.
template <typename Policy>
class BasicResults : public detail::Object<Policy, varve_results_t, varve_results_free> {
  using Base = detail::Object<Policy, varve_results_t, varve_results_free>;

 public:
  using Base::Base;
  template <typename T>
  using Answer = typename Base::template Answer<T>;

  [[nodiscard]] size_t size() const noexcept { return varve_results_count(this->handle()); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  // Borrowed from this object, like every std::string_view here. Of results without a name, which
  // are gone before a text of theirs is read in for (auto e : session.query().entries()), these
  // give texts that stay; but not through the arrow of a result, as in session.query()->entries():
  // keep that result.
  Answer<std::string_view> entry(size_t index) const & { return entry_as<std::string_view>(index); }
  Answer<std::string> entry(size_t index) const && { return entry_as<std::string>(index); }
  Answer<std::string_view> json() const & { return json_as<std::string_view>(); }
  Answer<std::string> json() const && { return json_as<std::string>(); }
  // The cursor for "after", by which the same query gives the next page; empty on the last one.
  Answer<std::string_view> next() const & { return next_as<std::string_view>(); }
  Answer<std::string> next() const && { return next_as<std::string>(); }
  Answer<double> score(size_t index) const {
    return this->template make<double, double>(varve_results_score, index);
  }
  // All entries, in order.
  [[nodiscard]] std::vector<std::string_view> entries() const & {
    return entries_as<std::string_view>();
  }
  [[nodiscard]] std::vector<std::string> entries() const && { return entries_as<std::string>(); }

 private:
  template <typename Text>
  Answer<Text> entry_as(size_t index) const {
    return borrow<Text>([&](const char **text, size_t *len, varve_error_t **error) {
      return varve_results_entry(this->handle(), index, text, len, error);
    });
  }
  template <typename Text>
  Answer<Text> json_as() const {
    return borrow<Text>([&](const char **text, size_t *len, varve_error_t **error) {
      return varve_results_json(this->handle(), text, len, error);
    });
  }
  template <typename Text>
  Answer<Text> next_as() const {
    return borrow<Text>([&](const char **text, size_t *len, varve_error_t **error) {
      return varve_results_next(this->handle(), text, len, error);
    });
  }
  template <typename Text>
  [[nodiscard]] std::vector<Text> entries_as() const {
    std::vector<Text> all;
    const char *text = nullptr;
    size_t len = 0;
    while (varve_results_entry(this->handle(), all.size(), &text, &len, nullptr) == VARVE_OK) {
      all.emplace_back(text, len);
    }
    return all;
  }
  template <typename Text, typename Call>
  Answer<Text> borrow(Call &&call) const {
    detail::ErrorOut error;
    const char *text = nullptr;
    size_t len = 0;
    const varve_status_t status = call(&text, &len, error.out());
    if (status != VARVE_OK) return Policy::template fail<Text>(error.make(status));
    return Text(text, len);
  }
};

// One memory: see varve/session.h, entry.h, query.h, maintenance.h.
template <typename Policy>
class BasicSession : public detail::Object<Policy, varve_session_t, varve_session_close> {
  using Base = detail::Object<Policy, varve_session_t, varve_session_close>;
  using Text = std::string_view;

 public:
  using Base::Base;
  template <typename T>
  using Answer = typename Base::template Answer<T>;
  using Results = BasicResults<Policy>;

  [[nodiscard]] std::string id() const {
    const char *id = varve_session_id(this->handle());
    return id == nullptr ? std::string() : std::string(id);
  }
  Answer<std::string> add(Text entry) const {
    return this->ask(varve_session_add, entry.data(), entry.size());
  }
  // A JSON array or JSON lines in one text; or entries, one in each text. Returns the ids as a JSON
  // array.
  Answer<std::string> add_batch(Text entries) const {
    return this->ask(varve_session_add_batch, entries.data(), entries.size());
  }
  Answer<std::string> add_batch(std::span<const std::string_view> entries) const {
    return add_batch(detail::json_array(entries));
  }
  Answer<std::string> add_batch(std::span<const std::string> entries) const {
    return add_batch(detail::json_array(entries));
  }
  // Without this, two texts in braces would be the begin and the end of one.
  Answer<std::string> add_batch(std::initializer_list<std::string_view> entries) const {
    return add_batch(detail::json_array(entries));
  }
  Answer<std::string> get(Text id) const {
    return this->ask(varve_session_get, id.data(), id.size());
  }
  Answer<void> remove(Text id, Text reason = {}) const {
    return this->tell(varve_session_delete, id.data(), id.size(), reason.data(), reason.size());
  }
  Answer<uint64_t> remove_where(Text query, Text reason = {}) const {
    return this->template make<uint64_t, uint64_t>(varve_session_delete_where, query.data(),
                                                   query.size(), reason.data(), reason.size());
  }

  // One page: "limit" results, 100 by default. "next" of its json() is "after" of the next page.
  Answer<Results> query(Text query = {}) const {
    return this->template make<Results, varve_results_t *>(varve_session_query, query.data(),
                                                           query.size());
  }
  Answer<uint64_t> count(Text query = {}) const {
    return this->template make<uint64_t, uint64_t>(varve_session_count, query.data(), query.size());
  }
  Answer<std::string> tags() const { return this->ask(varve_session_tags); }

  // Small facts by key: see varve/kv.h. The list is a JSON array.
  Answer<void> kv_set(Text key, Text value) const {
    return this->tell(varve_kv_set, key.data(), key.size(), value.data(), value.size());
  }
  Answer<std::string> kv_get(Text key) const {
    return this->ask(varve_kv_get, key.data(), key.size());
  }
  Answer<void> kv_remove(Text key) const {
    return this->tell(varve_kv_delete, key.data(), key.size());
  }
  Answer<std::string> kv_list() const { return this->ask(varve_kv_list); }
  // The turns of a conversation: see varve/transcript.h.
  Answer<void> transcript_append(Text role, Text content) const {
    return this->tell(varve_transcript_append, role.data(), role.size(), content.data(),
                      content.size());
  }
  Answer<std::string> transcript_last(size_t count_max = SIZE_MAX) const {
    return this->ask(varve_transcript_last, count_max);
  }
  // What a model is given: see varve/context.h.
  Answer<std::string> record(Text kind, Text payload) const {
    return this->ask(varve_context_record, kind.data(), kind.size(), payload.data(),
                     payload.size());
  }
  Answer<std::string> build_context(Text request = {}) const {
    return this->ask(varve_context_build, request.data(), request.size());
  }
  Answer<void> put_vector(Text id, std::span<const float> values) const {
    const size_t count = std::min<size_t>(values.size(), UINT32_MAX);  // far too many either way
    return this->tell(varve_session_put_vector, id.data(), id.size(), values.data(),
                      static_cast<uint32_t>(count));
  }

  Answer<std::string> metadata() const { return this->ask(varve_session_metadata); }
  Answer<void> update(Text patch) const {
    return this->tell(varve_session_update, patch.data(), patch.size());
  }
  Answer<void> sync() const { return this->tell(varve_session_sync); }
  Answer<std::string> stats() const { return this->ask(varve_session_stats); }
  Answer<std::string> files() const { return this->ask(varve_session_files); }

  Answer<std::string> verify(Text options = {}) const {
    return this->ask(varve_session_verify, options.data(), options.size());
  }
  Answer<std::string> repair(Text options = {}) const {
    return this->ask(varve_session_repair, options.data(), options.size());
  }
  Answer<std::string> compact(Text options = {}) const {
    return this->ask(varve_session_compact, options.data(), options.size());
  }
  Answer<std::string> purge(Text options = {}) const {
    return this->ask(varve_session_purge, options.data(), options.size());
  }
  Answer<std::string> migrate(Text options = {}) const {
    return this->ask(varve_session_migrate, options.data(), options.size());
  }
  Answer<std::string> rebuild_index(Text options = {}) const {
    return this->ask(varve_session_rebuild_index, options.data(), options.size());
  }
  Answer<std::string> index() const { return this->ask(varve_session_index); }

  Answer<std::string> export_text(Text format) const {
    return this->ask(varve_session_export, format.data(), format.size());
  }
  Answer<std::string> export_file(Text path, Text options = {}) const {
    return this->ask(varve_session_export_file, path.data(), path.size(), options.data(),
                     options.size());
  }
  Answer<std::string> import_text(Text text) const {
    return this->ask(varve_session_import, text.data(), text.size());
  }
  Answer<std::string> import_file(Text path, Text options = {}) const {
    return this->ask(varve_session_import_file, path.data(), path.size(), options.data(),
                     options.size());
  }
  // When the function returns false or throws, the operation stops: VARVE_CALLBACK. An empty
  // function stops the reports. An operation that has begun asks the one that replaces its own.
  Answer<void> set_progress(detail::ProgressFunction function) {
    return this->hear(progress_.get(), std::move(function), detail::call_progress,
                      varve_session_set_progress);
  }

 private:
  using Slot = detail::Slot<detail::ProgressFunction>;
  std::unique_ptr<Slot> progress_ = std::make_unique<Slot>();
};

// The last messages of a conversation: see varve/window.h.
template <typename Policy>
class BasicWindow : public detail::Object<Policy, varve_window_t, varve_window_free> {
  using Base = detail::Object<Policy, varve_window_t, varve_window_free>;

 public:
  using Base::Base;
  template <typename T>
  using Answer = typename Base::template Answer<T>;

  static Answer<BasicWindow> make(std::integral auto capacity) {
    if constexpr (std::signed_integral<decltype(capacity)>) {
      if (capacity < 0) return Policy::template fail<BasicWindow>(is_negative(capacity));
    }
    detail::ErrorOut error;
    varve_window_t *window = nullptr;
    const varve_status_t status =
        varve_window_new(static_cast<size_t>(capacity), &window, error.out());
    if (status != VARVE_OK) return Policy::template fail<BasicWindow>(error.make(status));
    return BasicWindow(window);
  }
  explicit BasicWindow(std::integral auto capacity) requires std::same_as<Policy, Throwing>
      : BasicWindow(make(capacity)) {}

  Answer<void> add(std::string_view message) const {
    return this->tell(varve_window_add, message.data(), message.size());
  }
  Answer<std::string> recent(size_t count_max = SIZE_MAX) const {
    return this->ask(varve_window_recent, count_max);
  }
  Answer<std::string> text() const { return this->ask(varve_window_text); }
  Answer<void> clear() const { return this->tell(varve_window_clear); }
  [[nodiscard]] size_t size() const noexcept { return varve_window_size(this->handle()); }

 private:
  // What would become a capacity near 2^64.
  static Error is_negative(std::signed_integral auto capacity) {
    return {VARVE_INVALID_ARGUMENT,
            "capacity is " + std::to_string(capacity) + "; a window keeps 1 message or more",
            R"({"member":"capacity"})"};
  }
};

// A user's memory in three tiers: see varve/memory.h.
template <typename Policy>
class BasicMemory : public detail::Object<Policy, varve_memory_t, varve_memory_close> {
  using Base = detail::Object<Policy, varve_memory_t, varve_memory_close>;
  using Text = std::string_view;

 public:
  using Base::Base;
  template <typename T>
  using Answer = typename Base::template Answer<T>;
  using Results = BasicResults<Policy>;

  Answer<std::string> record(Text session_id, Text message) const {
    return this->ask(varve_memory_record, session_id.data(), session_id.size(), message.data(),
                     message.size());
  }
  Answer<std::string> context(Text session_id, uint64_t max_tokens = 0) const {
    return this->ask(varve_memory_context, session_id.data(), session_id.size(), max_tokens);
  }
  Answer<void> load(Text session_id) const {
    return this->tell(varve_memory_load, session_id.data(), session_id.size());
  }
  Answer<void> save(Text session_id) const {
    return this->tell(varve_memory_save, session_id.data(), session_id.size());
  }
  Answer<void> clear() const { return this->tell(varve_memory_clear); }
  Answer<std::string> store(Text message) const {
    return this->ask(varve_memory_store, message.data(), message.size());
  }
  Answer<Results> search(Text query = {}) const {
    return this->template make<Results, varve_results_t *>(varve_memory_search, query.data(),
                                                           query.size());
  }
  Answer<void> remove(Text id, Text reason = {}) const {
    return this->tell(varve_memory_delete, id.data(), id.size(), reason.data(), reason.size());
  }
};

// A directory of sessions: see varve/store.h.
template <typename Policy>
class BasicStore : public detail::Object<Policy, varve_store_t, varve_store_close> {
  using Base = detail::Object<Policy, varve_store_t, varve_store_close>;
  using Text = std::string_view;

 public:
  using Base::Base;
  template <typename T>
  using Answer = typename Base::template Answer<T>;
  using Session = BasicSession<Policy>;
  using Results = BasicResults<Policy>;
  using Memory = BasicMemory<Policy>;

  static Answer<BasicStore> open(Text uri, Text config = {}) {
    detail::ErrorOut error;
    varve_store_t *store = nullptr;
    const varve_status_t status =
        varve_store_open(uri.data(), uri.size(), config.data(), config.size(), &store, error.out());
    if (status != VARVE_OK) return Policy::template fail<BasicStore>(error.make(status));
    return BasicStore(store);
  }
  explicit BasicStore(Text uri, Text config = {}) requires std::same_as<Policy, Throwing>
      : BasicStore(open(uri, config)) {}
  BasicStore(BasicStore &&) noexcept = default;
  BasicStore &operator=(BasicStore &&other) noexcept {
    BasicStore taken(std::move(other));  // closes what was here, before its callbacks go
    std::swap(static_cast<Base &>(*this), static_cast<Base &>(taken));
    std::swap(callbacks_, taken.callbacks_);
    return *this;
  }
  // Do not destroy a store inside one of its own callbacks.
  ~BasicStore() { static_cast<Base &>(*this) = Base(nullptr); }

  // Opens the session with this id or, when there is none, creates it with these options.
  Answer<Session> session(Text id, Text options = {}) const {
    return create_session(detail::open_or_make(id, options));
  }
  Answer<Session> create_session(Text options = {}) const {
    return this->template make<Session, varve_session_t *>(varve_session_create, options.data(),
                                                           options.size());
  }
  Answer<Session> open_session(Text id) const {
    return this->template make<Session, varve_session_t *>(varve_session_open, id.data(),
                                                           id.size());
  }
  Answer<Memory> open_memory(Text options = {}) const {
    return this->template make<Memory, varve_memory_t *>(varve_memory_open, options.data(),
                                                         options.size());
  }
  Answer<std::string> sessions(Text filter = {}) const {
    return this->ask(varve_store_sessions, filter.data(), filter.size());
  }
  Answer<void> delete_session(Text id) const {
    return this->tell(varve_store_delete_session, id.data(), id.size());
  }
  Answer<Results> query(Text query = {}) const {
    return this->template make<Results, varve_results_t *>(varve_store_query, query.data(),
                                                           query.size());
  }
  Answer<void> sync() const { return this->tell(varve_store_sync); }
  Answer<std::string> sweep() const { return this->ask(varve_store_sweep); }
  Answer<std::string> stats() const { return this->ask(varve_store_stats); }
  Answer<std::string> usage(Text filter = {}) const {
    return this->ask(varve_store_usage, filter.data(), filter.size());
  }
  Answer<std::string> metrics() const { return this->ask(varve_store_metrics); }
  Answer<std::string> backup(Text path, Text options = {}) const {
    return this->ask(varve_store_backup, path.data(), path.size(), options.data(), options.size());
  }
  Answer<std::string> restore(Text path, Text options = {}) const {
    return this->ask(varve_store_restore, path.data(), path.size(), options.data(), options.size());
  }
  // When the function throws, the line is lost. An empty function stops the lines.
  Answer<void> set_log(int32_t level, detail::LogFunction function) {
    return this->hear(callbacks_ ? &callbacks_->log : nullptr, std::move(function),
                      detail::call_log, varve_store_set_log, level);
  }
  // The function returns [ms] since the Unix epoch; when it throws, the system's clock is asked. An
  // empty function returns to the system's clock.
  Answer<void> set_clock(detail::ClockFunction function) {
    return this->hear(callbacks_ ? &callbacks_->clock : nullptr, std::move(function),
                      detail::call_clock, varve_store_set_clock);
  }
  // When the function throws, building the context fails: VARVE_CALLBACK. An empty function returns
  // to the built-in estimate.
  Answer<void> set_token_counter(detail::TokenFunction function) {
    return this->hear(callbacks_ ? &callbacks_->tokens : nullptr, std::move(function),
                      detail::call_tokens, varve_store_set_token_counter);
  }

 private:
  struct Kept {
    detail::Slot<detail::LogFunction> log;
    detail::Slot<detail::ClockFunction> clock;
    detail::Slot<detail::TokenFunction> tokens;
  };
  std::unique_ptr<Kept> callbacks_ = std::make_unique<Kept>();
};

using Store = BasicStore<Throwing>;
using Session = BasicSession<Throwing>;
using Results = BasicResults<Throwing>;
using Window = BasicWindow<Throwing>;
using Memory = BasicMemory<Throwing>;

// The same with Result<T> in place of exceptions.
namespace checked {
using Store = BasicStore<Returning>;
using Session = BasicSession<Returning>;
using Results = BasicResults<Returning>;
using Window = BasicWindow<Returning>;
using Memory = BasicMemory<Returning>;
template <typename T>
using Result = varve::Result<T>;
}  // namespace checked

}  // namespace wrapper
}  // namespace varve

#endif  // C++20
#endif
