// DirectoryEngine: all sessions of a store, in one root directory (docs/format.md#directory).
//
//   ROOT/config.json  ROOT/sessions/ID/  ROOT/indices/  ROOT/tmp/
//
// A session appears and disappears in one step: it is made under tmp/ and renamed into sessions/,
// and renamed back into tmp/ before its files go. What a killed process leaves in tmp/ is removed
// by the next open of the store, and by remove_left_overs(); the lock file inside tells whether its
// maker is alive.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "log/directory_storage.h"
#include "log/registry.h"
#include "log/storage.h"

namespace varve::log {

// The ids of the sessions in a directory that is a store's `sessions`, sorted.
Result<std::vector<std::string>> session_ids_in(io::Directory& sessions);

class DirectoryEngine final : public Engine {
 public:
  using Environment = DirectoryStorage::Environment;

  // Looks at the root before anything is created or removed in it, and may refuse it.
  using Accept = std::function<Status(io::Directory& root)>;

  // Creates what the root lacks. Without permission to write, existing sessions can be read;
  // kNotFound when there are none to read.
  static Result<std::unique_ptr<DirectoryEngine>> open(std::string_view path,
                                                       const Environment& environment,
                                                       uint64_t lock_timeout_ms,
                                                       const Accept& accept = {});

  void set_lock_timeout_ms(uint64_t timeout_ms) override { lock_timeout_ms_ = timeout_ms; }
  Result<std::unique_ptr<SessionStorage>> create(const SessionRow& row,
                                                 std::string_view metadata) override;
  Result<std::unique_ptr<SessionStorage>> open(std::string_view session_id) override;
  Result<bool> is_name_without_session(std::string_view session_id) override;
  Status install(const SessionRow& row, const SessionContents& contents,
                 Existing existing) override;
  Status drop(std::string_view session_id, const DropWanted& wanted) override;
  Result<RowPage> list(std::string_view after, size_t limit) override;
  Result<std::vector<std::string>> session_ids() override;
  bool is_kept_in(io::Directory& directory) override;
  Status rescan() override;
  Result<ListedLives> lives(const IdWanted& is_wanted) override;
  Result<ValidRows> valid_rows(std::unordered_set<std::string> session_ids) override;
  Status remove_dead_rows() override;
  Result<std::unique_ptr<SessionStorage>> open_catalog() override;
  Result<std::unique_ptr<SessionStorage>> create_catalog(std::string_view metadata) override;
  Status drop_catalog() override;
  Status remove_left_overs() override;
  Result<std::string> session_document(std::string_view session_id, std::string_view name) override;
  Result<std::string> store_document(std::string_view name) override;

 private:
  DirectoryEngine(std::unique_ptr<io::Directory> root, const Environment& environment,
                  uint64_t lock_timeout_ms)
      : root_(std::move(root)), environment_(environment), lock_timeout_ms_(lock_timeout_ms) {}

  Status open_folders();
  Status open_folder(std::string_view name, std::unique_ptr<io::Directory>* folder);
  Status refuse_if_read_only() const;
  Status refuse_if_removed();
  [[nodiscard]] int64_t deadline_us() const {
    return environment_.clock->deadline_us(lock_timeout_ms_);
  }
  // Makes a session in tmp/ that lacks only its name, and holds its lock.
  using Fill = std::function<Status(io::Directory&)>;
  Status stage_session(const Fill& fill, std::string* name, std::unique_ptr<io::File>* lock);
  Status lock_and_fill(std::string_view name, const Fill& fill, std::unique_ptr<io::File>* lock);
  static Status make_session(io::Directory& directory, std::string_view metadata);
  Status refuse_if_taken(std::string_view session_id);
  Status refuse_if_other_case(std::string_view session_id);
  Result<bool> is_listed_so(std::string_view session_id);
  bool take_back(std::string_view session_id, std::string_view temporary);
  bool put_back(std::string_view temporary, std::string_view session_id);
  Status take_name(std::string_view session_id, std::string_view temporary, bool* has_its_name);
  Status drop_locked(DirectoryStorage& storage, std::string_view session_id,
                     const DropWanted& wanted, int64_t deadline_us);
  Result<bool> drop_without_session(std::string_view session_id, int64_t deadline_us);
  // kNotFound when nothing has the name; open_storage(): also when what has it holds no session.
  Result<std::unique_ptr<io::Directory>> open_session_directory(std::string_view session_id);
  Result<std::unique_ptr<DirectoryStorage>> open_storage(std::string_view session_id);
  // Parts of install(), and whose the temporary directory is after them: kUnknown when a power loss
  // may decide that.
  enum class Staged : uint8_t { kNew, kOld, kUnknown };
  Result<std::unique_ptr<DirectoryStorage>> lock_present(const std::string& session_id);
  Status refuse_if_present(const std::string& session_id);
  Result<bool> ends_present(const SessionRow& row);
  Status give_name(const std::string& temporary, const std::string& session_id, Existing existing,
                   Staged* staged);
  Status sync_exchange(const std::string& temporary, const std::string& session_id, Staged* staged);
  Status replace_by_moves(const std::string& temporary, const std::string& session_id,
                          Staged* staged);
  Status put_in_place(const std::string& temporary, SessionRow row, const SessionContents& contents,
                      Existing existing, DirectoryStorage* present, Staged* staged);
  Result<std::unique_ptr<DirectoryStorage>> open_catalog_storage();
  Status drop_locked_catalog(DirectoryStorage* storage);
  using CollectedRows = std::shared_ptr<const std::vector<SessionRow>>;
  Result<RowPage> collected_page(std::string_view after, size_t limit);
  Result<CollectedRows> rows_for_pages(bool is_first_page);
  void keep_for_pages(CollectedRows rows);
  Result<std::vector<SessionRow>> collect_rows();
  Result<std::vector<SessionRow>> collect_live_rows();
  Result<std::unordered_set<size_t>> rows_to_keep(const std::vector<SessionRow>& rows,
                                                  const ListedLives& lives);
  Result<std::optional<SessionRow>> described_row(const std::string& session_id);
  Status complete_rows(const std::vector<SessionRow*>& incomplete);
  void sweep_left_overs();
  Status sweep_one(std::string_view name, bool is_filled);
  // Removes a directory of ours with all that is in it, the lock file last, in an order that does
  // not mislead readers. remove_tree(): best effort.
  static Status remove_whole(io::Directory& parent, std::string_view name);
  static void remove_tree(io::Directory& parent, std::string_view name);

  std::unique_ptr<io::Directory> root_;
  Environment environment_;
  uint64_t lock_timeout_ms_;
  bool writable_ = true;
  bool has_link_counts_ = false;  // whether the file system tells a directory that was removed
  bool may_fold_case_ = false;    // whether a name may lead to what is named in another case
  std::unique_ptr<io::Directory> sessions_;
  std::unique_ptr<io::Directory> indices_;
  std::unique_ptr<io::Directory> temporary_;
  std::unique_ptr<Registry> registry_;
  std::mutex collected_mutex_;
  CollectedRows collected_;  // by place; null when no page is to follow
};

}  // namespace varve::log
