#include "handles.h"

#include <memory>
#include <unordered_map>

namespace varve_node {
namespace {

using Handles = std::unordered_map<void*, CloseHandle>;

thread_local std::unique_ptr<Handles> opened;

}  // namespace

void note_handles() {
  if (opened == nullptr) {
    opened = std::make_unique<Handles>();
  }
}

void note_opened(void* handle, CloseHandle close) {
  if (opened != nullptr) {
    opened->emplace(handle, close);
  }
}

void note_closed(void* handle) {
  if (opened != nullptr) {
    opened->erase(handle);
  }
}

std::vector<const void*> close_opened() {
  std::vector<const void*> closed;
  if (opened != nullptr) {
    for (const auto& [handle, close] : *opened) {
      close(handle);  // a store closes its sessions; to close them again does no harm
      closed.push_back(handle);
    }
    opened->clear();
  }
  return closed;
}

}  // namespace varve_node
