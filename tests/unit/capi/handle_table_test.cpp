#include "capi/handle_table.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "support/build_kind.h"

namespace varve::capi {
namespace {

// Counts itself, so that a test sees when it ends.
class Counted : public Record {
 public:
  explicit Counted(std::atomic<int>* alive, int number = 0) : value(number), alive_(alive) {
    ++*alive_;
  }
  ~Counted() override { --*alive_; }
  const int value;

 private:
  std::atomic<int>* alive_;
};

class StoreLike final : public Counted {
 public:
  static constexpr HandleType kType = HandleType::kStore;
  using Counted::Counted;
};

class SessionLike final : public Counted {
 public:
  static constexpr HandleType kType = HandleType::kSession;
  using Counted::Counted;
};

HandleTable& table() { return HandleTable::of_process(); }

template <typename T>
Token open_one(std::atomic<int>* alive, int value = 0) {
  const auto token = table().open(std::make_shared<T>(alive, value));
  EXPECT_TRUE(token.ok());
  return *token;
}

template <typename T>
Code pin_code(Token token) {
  return table().pin<T>(token).code();
}

TEST(HandleTable, GivesTheRecordBack) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive, 7);
  {
    const auto pin = table().pin<StoreLike>(token);
    ASSERT_TRUE(pin.ok());
    EXPECT_EQ((*pin)->value, 7);
  }
  EXPECT_EQ(alive, 1);
  EXPECT_NE(table().close<StoreLike>(token), nullptr);
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, TokensAreOddAndNoAddressOfAUser) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive);
  EXPECT_EQ(token & 1, 1U);
  EXPECT_EQ(token >> 56, 0x56U);  // neither sign extension of 48-bit nor of 57-bit addresses
  table().close<StoreLike>(token);
}

TEST(HandleTable, ClosedHandleIsBadForEver) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive);
  table().close<StoreLike>(token);
  EXPECT_EQ(pin_code<StoreLike>(token), Code::kBadHandle);
  EXPECT_EQ(table().close<StoreLike>(token), nullptr);
  // Its slot is used again, many times; the old token must not match any of them.
  for (int i = 0; i < 1000; ++i) {
    const Token other = open_one<StoreLike>(&alive);
    ASSERT_NE(other, token);
    ASSERT_EQ(pin_code<StoreLike>(token), Code::kBadHandle);
    table().close<StoreLike>(other);
  }
}

TEST(HandleTable, RefusesAnotherType) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive);
  const auto pin = table().pin<SessionLike>(token);
  EXPECT_EQ(pin.code(), Code::kBadHandle);
  EXPECT_EQ(pin.status().message(), "this is a handle of type store; a session is needed");
  EXPECT_EQ(table().close<SessionLike>(token), nullptr);
  EXPECT_EQ(pin_code<StoreLike>(token), Code::kOk);
  table().close<StoreLike>(token);
}

TEST(HandleTable, RefusesNull) {
  const auto pin = table().pin<StoreLike>(0);
  EXPECT_EQ(pin.code(), Code::kBadHandle);
  EXPECT_EQ(pin.status().message(), "the store handle is NULL");
}

TEST(HandleTable, RefusesEveryNeighbourOfAnOpenToken) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive);
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(pin_code<StoreLike>(token ^ uint64_t{1} << bit), Code::kBadHandle) << bit;
  }
  table().close<StoreLike>(token);
}

TEST(HandleTable, RefusesRandomValues) {
  std::mt19937_64 random(20260110);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t value = random();
    ASSERT_EQ(pin_code<StoreLike>(value), Code::kBadHandle) << value;
    // The same with the mark, the type and the low bit right: only slot and generation are wrong.
    const uint64_t likely = uint64_t{0x56} << 56 | (value & 0x00FFFFFFFFFFFFF0) | 3;
    ASSERT_EQ(pin_code<StoreLike>(likely), Code::kBadHandle) << likely;
  }
}

// As two copies of the library in one process have them, when plugins link it statically.
TEST(HandleTable, RefusesTheTokensOfAnotherTable) {
  static HandleTable one;
  static HandleTable other;
  std::atomic<int> alive{0};
  for (int i = 0; i < 200; ++i) {
    const auto token = one.open(std::make_shared<StoreLike>(&alive, i));
    const auto others = other.open(std::make_shared<StoreLike>(&alive, i));
    ASSERT_TRUE(token.ok() && others.ok());
    EXPECT_EQ(other.pin<StoreLike>(*token).code(), Code::kBadHandle);
    EXPECT_EQ(other.close<StoreLike>(*token), nullptr);
    EXPECT_NE(one.close<StoreLike>(*token), nullptr);
    EXPECT_NE(other.close<StoreLike>(*others), nullptr);
  }
}

TEST(HandleTable, HoldsManyHandlesAtOnce) {
  std::atomic<int> alive{0};
  std::vector<Token> tokens;
  for (int i = 0; i < 5000; ++i) tokens.push_back(open_one<SessionLike>(&alive, i));
  EXPECT_EQ(std::set<Token>(tokens.begin(), tokens.end()).size(), 5000U);
  for (int i = 0; i < 5000; ++i) {
    const auto pin = table().pin<SessionLike>(tokens[static_cast<size_t>(i)]);
    ASSERT_TRUE(pin.ok());
    ASSERT_EQ((*pin)->value, i);
  }
  for (const Token token : tokens) table().close<SessionLike>(token);
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, SharedRecordOutlivesItsHandle) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive, 3);
  auto pin = table().pin<StoreLike>(token);
  ASSERT_TRUE(pin.ok());
  std::shared_ptr<StoreLike> kept = pin->share();
  pin->release();
  table().close<StoreLike>(token);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(kept->value, 3);
  kept.reset();
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, CloseWaitsForTheCallInFlight) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive);
  auto pin = table().pin<StoreLike>(token);
  ASSERT_TRUE(pin.ok());
  std::atomic<bool> closed{false};
  std::thread closer([&] {
    table().close<StoreLike>(token);
    closed = true;
  });
  // Once new calls are refused, the closer can only be waiting for this thread's pin.
  while (pin_code<StoreLike>(token) == Code::kOk) std::this_thread::yield();
  EXPECT_FALSE(closed);
  EXPECT_EQ(alive, 1);
  pin->release();
  closer.join();
  EXPECT_EQ(alive, 0);
}

TEST(HandleTable, OneOfManyClosersGetsTheRecord) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> alive{0};
    const Token token = open_one<StoreLike>(&alive);
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { winners += table().close<StoreLike>(token) != nullptr ? 1 : 0; });
    }
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(winners, 1);
    ASSERT_EQ(alive, 0);
  }
}

TEST(HandleTable, ThreadsOpenUseAndCloseAtOnce) {
  std::atomic<int> alive{0};
  std::atomic<Token> shared{open_one<SessionLike>(&alive, 42)};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto pin = table().pin<SessionLike>(shared);
        const bool right = pin.ok() ? (*pin)->value == 42 : pin.code() == Code::kBadHandle;
        if (!right) ++wrong;
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    const Token old = shared.exchange(open_one<SessionLike>(&alive, 42));
    table().close<SessionLike>(old);
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  table().close<SessionLike>(shared);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(alive, 0);
}

// What `child` answers in a forked child; -1 when it did not end by itself.
template <typename Child>
int exit_code_of_child(Child child) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(child());
  int state = 0;
  ::waitpid(pid, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST(HandleTable, ForkedChildSeesTheParentsHandlesAsForked) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive, 5);
  const int code = exit_code_of_child([&] {
    if (pin_code<StoreLike>(token) != Code::kForked) return 1;
    const auto own = table().open(std::make_shared<StoreLike>(&alive, 6));
    if (!own.ok() || pin_code<StoreLike>(*own) != Code::kOk) return 2;
    if (table().close<StoreLike>(*own) == nullptr) return 3;
    // Closing what is the parent's touches nothing of it.
    if (table().close<StoreLike>(token) != nullptr || alive != 1) return 4;
    return pin_code<StoreLike>(token) == Code::kBadHandle ? 0 : 5;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(pin_code<StoreLike>(token), Code::kOk);
  table().close<StoreLike>(token);
}

TEST(HandleTable, ForkedChildNeedNotWaitForThreadsOfTheParent) {
  std::atomic<int> alive{0};
  const Token token = open_one<StoreLike>(&alive);
  auto pin = table().pin<StoreLike>(token);  // a call in flight while the process forks
  ASSERT_TRUE(pin.ok());
  const int code = exit_code_of_child([&] {
    table().close<StoreLike>(token);  // would wait for ever if it counted the parent's pin
    return pin_code<StoreLike>(token) == Code::kBadHandle ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  pin->release();
  table().close<StoreLike>(token);
  EXPECT_EQ(alive, 0);
}

// The sanitizers' allocators take no locks before fork(): the child of a process with another
// thread in them waits for ever. Plain builds have this test.
#ifndef VARVE_TEST_IS_SANITIZED
TEST(HandleTable, ForkWhileOtherThreadsOpenAndClose) {
  std::atomic<int> alive{0};
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) table().close<StoreLike>(open_one<StoreLike>(&alive));
  });
  for (int i = 0; i < 50; ++i) {
    const int code = exit_code_of_child([&] {
      std::atomic<int> own{0};
      for (int j = 0; j < 100; ++j) {
        const auto token = table().open(std::make_shared<StoreLike>(&own));
        if (!token.ok() || table().close<StoreLike>(*token) == nullptr) return 1;
      }
      return own == 0 ? 0 : 2;
    });
    ASSERT_EQ(code, 0);
  }
  stop = true;
  busy.join();
}
#endif

}  // namespace
}  // namespace varve::capi
