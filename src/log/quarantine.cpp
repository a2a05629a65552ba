#include "log/quarantine.h"

#include <algorithm>
#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>
#include <utility>

#include "base/time.h"
#include "json/tree.h"

namespace varve::log {

namespace {

constexpr size_t kRecordBytes = size_t{1} << 20;

// With OpenSSL's own, which makes errors of its own, most of libcrypto would be linked.
std::string base64(std::string_view bytes) {
  namespace iterators = boost::archive::iterators;
  using Digits =
      iterators::base64_from_binary<iterators::transform_width<std::string_view::iterator, 6, 8>>;
  std::string text(Digits(bytes.begin()), Digits(bytes.end()));
  text.append((3 - bytes.size() % 3) % 3, '=');
  return text;
}

// Records that are appended together, because each append is synced.
class Records {
 public:
  Records(SessionStorage& storage, const QuarantineReason& why) : storage_(storage), why_(why) {}

  Status add(std::string_view bytes, uint64_t offset) {
    json::Tree record = json::Tree::object();
    record.set("timestamp", json::Tree::string(format_rfc3339(why_.now_ms)));
    record.set("file", json::Tree::string(why_.file));
    record.set("offset", json::Tree::integer_unsigned(offset));
    record.set("reason", json::Tree::string(why_.reason));
    record.set("bytes", json::Tree::string(base64(bytes)));
    record.append_to(text_);
    text_ += '\n';
    return text_.size() < kRecordBytes ? Status() : append();
  }

  // As much of it as is there.
  Status add_stretch(uint64_t generation, const Damage& stretch) {
    why_.file = file_of(stretch.stream);
    why_.reason = stretch.reason;
    std::string bytes;
    const uint64_t end = stretch.offset + stretch.length;
    for (uint64_t at = stretch.offset; at < end;) {
      bytes.resize(static_cast<size_t>(std::min<uint64_t>(kRecordBytes, end - at)));
      VARVE_TRY_ASSIGN(const size_t got, storage_.read(stretch.stream, generation, at, bytes));
      if (got == 0) break;
      VARVE_TRY(add(std::string_view(bytes).substr(0, got), at));
      at += got;
    }
    return {};
  }

  Status append() {
    if (text_.empty()) return {};
    VARVE_TRY(storage_.append(Stream::kQuarantine, 0, text_, true, 0));
    text_.clear();
    return {};
  }

 private:
  SessionStorage& storage_;
  QuarantineReason why_;
  std::string text_;
};

}  // namespace

Status quarantine_bytes(SessionStorage& storage, std::string_view bytes, uint64_t offset,
                        const QuarantineReason& why) {
  Records records(storage, why);
  size_t at = 0;
  do {
    VARVE_TRY(records.add(bytes.substr(at, kRecordBytes), offset + at));
    at += kRecordBytes;
  } while (at < bytes.size());
  return records.append();
}

Status Quarantining::add(uint64_t generation, const std::vector<Damage>& stretches) {
  Records records(storage_, {{}, {}, now_ms_});
  auto done = done_;
  for (const Damage& one : stretches) {
    if (!done.emplace(one.stream, generation, one.offset, one.length).second) continue;
    VARVE_TRY(records.add_stretch(generation, one));
  }
  VARVE_TRY(records.append());
  done_ = std::move(done);
  return {};
}

}  // namespace varve::log
