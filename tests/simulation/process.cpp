#include "process.h"

#include <utility>

namespace varve::simulation {

SimulatedProcess::SimulatedProcess(const io::SimulatedFileSystem& disk, int64_t process_id,
                                   uint64_t seed, VirtualClock& clock, crash::Sabotage defect,
                                   bool is_exclusive)
    : id_(process_id),
      is_exclusive_(is_exclusive),
      own_(disk.process(process_id)),
      file_system_(*own_, defect),
      random_(seed) {
  environment_.file_system = &file_system_;
  environment_.clock = &clock;
  environment_.random = &random_;
  environment_.sessions_worth_catalog = 1;
}

SimulatedProcess::~SimulatedProcess() { close_store(); }

void SimulatedProcess::die() {
  is_alive_ = false;
  own_->kill();
}

Status SimulatedProcess::open_store(const std::string& config, std::string_view root) {
  if (store_) return {};
  std::string own_config = config;
  if (is_exclusive_) {
    constexpr std::string_view kConcurrency = R"("concurrency":{)";
    const size_t at = own_config.find(kConcurrency) + kConcurrency.size();
    own_config.insert(at, R"("exclusive":true,)");
  }
  VARVE_TRY_ASSIGN(store_, store::Store::open(root, own_config, environment_));
  return {};
}

Status SimulatedProcess::create(const std::string& options, const std::string& session) {
  VARVE_TRY_ASSIGN(sessions_[session], store_->create_session(options));
  return {};
}

Status SimulatedProcess::open(const std::string& session) {
  if (sessions_.contains(session)) return {};
  VARVE_TRY_ASSIGN(auto opened, store_->open_session(session));
  sessions_[session] = std::move(opened);
  return {};
}

session::Session* SimulatedProcess::find(const std::string& session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second.get();
}

bool SimulatedProcess::holds(const std::string& session) const {
  return is_alive_ && is_exclusive_ && sessions_.contains(session);
}

// While a session closes, others look at who holds one: it is held until it is closed, by a map
// that is whole.
void SimulatedProcess::close(const std::string& session) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) {
    found->second.reset();
    sessions_.erase(session);
  }
  wounded.erase(session);
}

void SimulatedProcess::close_store() {
  for (auto& [id, session] : sessions_) session.reset();
  sessions_.clear();
  wounded.clear();
  if (store_) store_->close();
  store_.reset();
}

}  // namespace varve::simulation
