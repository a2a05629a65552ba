#include "writers.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <time.h>

#include <cstdlib>
#include <utility>

namespace varve::crash {

size_t adds_of_each() {
  const char* text = std::getenv("VARVE_CRASH_ADDS");
  return text == nullptr ? VARVE_CRASH_ADDS_DEFAULT : std::strtoul(text, nullptr, 10);
}

size_t rounds() {
  const char* text = std::getenv("VARVE_CRASH_ROUNDS");
  return text == nullptr ? 1 : std::strtoul(text, nullptr, 10);
}

int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

Writer::Writer(std::string command, std::string root, std::string name, size_t last,
               const char* config)
    : command_(std::move(command)),
      root_(std::move(root)),
      name_(std::move(name)),
      last_(last),
      config_(config) {
  start();
}

void Writer::listen() {
  std::vector<std::string> lines;
  const bool more = process_->read_lines(&lines);
  for (const std::string& line : lines) {
    EXPECT_EQ(line, name_ + "-" + std::to_string(told_ + 1));
    told_ += 1;
  }
  if (more) return;
  const int code = process_->wait();
  if (code == 128 + SIGKILL) return start();
  EXPECT_EQ(code, 0) << name_;
  EXPECT_EQ(told_, last_) << name_;
  done_ = true;
}

bool Writer::kill() {
  if (is_killed_) return false;
  process_->send(SIGKILL);
  is_killed_ = true;
  return true;
}

void Writer::start() {
  told_at_start_ = told_;
  is_killed_ = false;
  if (told_ == last_) {  // it was killed after its last word
    done_ = true;
    return;
  }
  process_ = std::make_unique<WorkerProcess>(std::vector<std::string>{
      command_, root_, "s", name_, std::to_string(told_ + 1), std::to_string(last_), config_});
}

size_t told_by(const std::vector<Writer>& writers) {
  size_t told = 0;
  for (const Writer& writer : writers) told += writer.told();
  return told;
}

void listen_to(const std::vector<Writer*>& active, int64_t wait_ms) {
  std::vector<pollfd> polled;
  for (const Writer* writer : active) polled.push_back({writer->output(), POLLIN, 0});
  ASSERT_GE(::poll(polled.data(), polled.size(), static_cast<int>(wait_ms)), 0);
  for (size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents != 0) active[i]->listen();
  }
}

}  // namespace varve::crash
