// SessionBackup: brings the copy of one session up to date.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "log/storage.h"
#include "store/backup.h"
#include "store/backup_manifest.h"
#include "store/dropped_sessions.h"
#include "store/session_rows.h"
#include "store/session_source.h"

namespace varve::store {

struct BackupTotals {
  uint64_t copied = 0;  // sessions
  uint64_t appended = 0;
  uint64_t unchanged = 0;
  uint64_t bytes = 0;    // written into the copy
  uint64_t entries = 0;  // lines among them
};

class SessionBackup {
 public:
  SessionBackup(const CopyContext& context, log::Engine& copies, ListedRows& rows,
                const std::string& id)
      : context_(context), copies_(copies), rows_(rows), id_(id) {}

  // What backup.json says of the copy.
  void set_known(const CopiedSession& known) { known_ = known; }
  // Keeps the copy of a session that is gone, unless it was dropped, where another has its id.
  void replace_only(DroppedSessions& dropped) { dropped_ = &dropped; }

  Status run(BackupTotals* totals);

  [[nodiscard]] const CopiedSession& copied() const { return copied_; }
  [[nodiscard]] const std::string& remark() const { return remark_; }  // for the report; or empty
  // Why the session could not be read; ok when the copy failed.
  [[nodiscard]] const Status& source_failure() const { return source_failure_; }

 private:
  Status attempt(BackupTotals* totals);
  Status hold_still();
  // Opens the copy if it can be extended; nullptr if it has to be made again.
  Result<std::unique_ptr<log::SessionStorage>> find_extensible();
  Result<bool> fits(log::SessionStorage& copy);
  Status remark_on_added();
  Status remark_on_all();
  Status extend(log::SessionStorage& copy, BackupTotals* totals);
  Status extend_stream(log::SessionStorage& copy, log::Stream stream, uint64_t from, uint64_t to);
  Status extend_documents(log::SessionStorage& copy);
  // Whether it was another than the copy's, and was put.
  Result<bool> put_if_other(log::SessionStorage& copy, const std::string& name,
                            const std::string& text);
  Result<bool> put_vectors_if_other(log::SessionStorage& copy);
  Result<bool> put_document_if_other(log::SessionStorage& copy, const std::string& name);
  [[nodiscard]] Result<log::SessionRow> row_of_source() const;
  Result<bool> has_more_deletions(SessionSource& copy);
  Status refuse_newer_copy();
  Status refuse_copy_of_lost();
  // Why the session may not take the place of its copy; empty: it may.
  Result<std::string_view> reason_to_keep_copy();
  Status copy_whole(BackupTotals* totals);
  // Whether the metadata.json of the copy tells how far the log was durable.
  [[nodiscard]] bool tells_durable() const;
  Status mark_durable();
  Status note_copied();

  const CopyContext& context_;
  log::Engine& copies_;
  ListedRows& rows_;  // of the copies
  DroppedSessions* dropped_ = nullptr;
  const std::string& id_;
  std::optional<CopiedSession> known_;
  Durable known_durable_;  // in the copy
  std::unique_ptr<SessionSource> source_;
  SourceScan scan_;
  CopiedSession copied_;
  std::string remark_;
  Status source_failure_;
  Status refusal_;  // why the session may not take the place of its copy
  uint64_t written_bytes_ = 0;
};

}  // namespace varve::store
