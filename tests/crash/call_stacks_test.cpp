// How much of the calling thread's stack each function of the ABI takes, on real files.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "abi_ground.h"
#include "support/build_kind.h"

namespace varve::crash {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;
constexpr unsigned char kUntouched = 0xA5;

// docs/threading.md tells programs so. What sanitizers make of the code takes more.
constexpr size_t kPromisedBytes = size_t{96} << 10;
constexpr size_t kLimitBytes = test::kFastBuild ? kPromisedBytes : kStackBytes / 2;

struct Call {
  const SweptCall* what;
  Ground* ground;
  Outs* outs;
  varve_status_t status;
};

void* run_call(void* given) {
  auto& call = *static_cast<Call*>(given);
  call.status = call.what->run(*call.ground, *call.outs);
  return nullptr;
}

// The stack grows down: its first byte that was touched is the deepest.
size_t stack_bytes_of(Call* call) {
  std::vector<unsigned char> memory(2 * kStackBytes, kUntouched);
  void* place = memory.data();
  size_t room = memory.size();
  auto* const stack = static_cast<unsigned char*>(std::align(4096, kStackBytes, place, room));
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  EXPECT_EQ(::pthread_attr_setstack(&attributes, stack, kStackBytes), 0);
  pthread_t thread{};
  EXPECT_EQ(::pthread_create(&thread, &attributes, &run_call, call), 0);
  ::pthread_join(thread, nullptr);
  ::pthread_attr_destroy(&attributes);
  const auto* const deepest = std::find_if(stack, stack + kStackBytes,
                                           [](unsigned char byte) { return byte != kUntouched; });
  return static_cast<size_t>(stack + kStackBytes - deepest);
}

TEST(CallStacks, AreAsSmallAsIsPromised) {
  size_t most_bytes = 0;
  for (const SweptCall& what : swept_calls()) {
    SCOPED_TRACE(std::string(what.function) + " " + what.variant);
    Ground ground(R"({"durability":"os"})");
    if (what.prepare != nullptr) what.prepare(ground);
    if (ground.store == nullptr) ground.open_all();
    Outs outs;
    Call call{&what, &ground, &outs, VARVE_INTERNAL};
    const size_t used_bytes = stack_bytes_of(&call);
    EXPECT_EQ(call.status, VARVE_OK);
    EXPECT_LE(used_bytes, kLimitBytes);
    most_bytes = std::max(most_bytes, used_bytes);
  }
  EXPECT_GT(most_bytes, size_t{8} << 10) << "or it is no test";
}

}  // namespace
}  // namespace varve::crash
