#include "log/quarantine.h"

#include <openssl/evp.h>

#include <algorithm>

#include "base/time.h"
#include "json/tree.h"

namespace varve::log {

namespace {

constexpr size_t kRecordBytes = size_t{1} << 20;

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  return text;
}

}  // namespace

Status quarantine_bytes(SessionStorage& storage, std::string_view bytes, uint64_t offset,
                        const QuarantineReason& why) {
  json::Tree record = json::Tree::object();
  record.set("timestamp", json::Tree::string(format_rfc3339(why.now_ms)));
  record.set("file", json::Tree::string(why.file));
  record.set("offset", json::Tree::integer_unsigned(offset));
  record.set("reason", json::Tree::string(why.reason));
  record.set("bytes", json::Tree::string(base64(bytes)));
  return storage.append(Stream::kQuarantine, 0, record.canonical() + "\n", true, 0);
}

Status quarantine_range(SessionStorage& storage, Stream stream, uint64_t generation,
                        uint64_t offset, uint64_t length, const QuarantineReason& why) {
  std::string bytes;
  for (uint64_t at = offset; at < offset + length;) {
    bytes.resize(static_cast<size_t>(std::min<uint64_t>(kRecordBytes, offset + length - at)));
    VARVE_TRY_ASSIGN(const size_t got, storage.read(stream, generation, at, bytes));
    if (got == 0) break;
    VARVE_TRY(quarantine_bytes(storage, std::string_view(bytes).substr(0, got), at, why));
    at += got;
  }
  return {};
}

Status Quarantining::add(Stream stream, uint64_t generation, uint64_t offset, uint64_t length,
                         std::string_view reason) {
  const std::tuple stretch(stream, generation, offset, length);
  if (done_.contains(stretch)) return {};
  VARVE_TRY(quarantine_range(storage_, stream, generation, offset, length,
                             {file_of(stream), reason, now_ms_}));
  done_.insert(stretch);
  return {};
}

}  // namespace varve::log
