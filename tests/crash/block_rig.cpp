#include "block_rig.h"

#include <filesystem>
#include <system_error>

namespace varve::crash {
namespace {

std::string folder_for_disk() {
  std::string folder = memory_folder() + "/disk";
  std::filesystem::create_directory(folder);
  return folder;
}

}  // namespace

BlockRig::BlockRig(const BlockFileSystem& kind, Sabotage defect)
    : kind_(kind), defect_(defect), base_(make_file_system(kind)) {}

void BlockRig::run(const Work& work, const DiskTrouble& trouble) {
  Ledger ledger;
  ledgers_ = {ledger};
  refused_ = false;
  late_successes_ = answers_in_trouble_ = 0;
  RecordedDisk disk(folder_for_disk(), base_, kind_.size_bytes);
  Mounted mounted(kind_, disk.path());
  {
    FolderFileSystem files(mounted.folder());
    SabotagedFileSystem sabotaged(files, defect_);
    const auto mark = [&](BlockEvent::Kind kind) {
      disk.mark(kind);
      ledgers_.push_back(ledger);
    };
    Program* running = nullptr;
    Program program(
        sabotaged, ledger,
        [&] {
          mark(BlockEvent::Kind::kAnswered);
          note_answer(*running, disk, trouble);
        },
        [&] { mark(BlockEvent::Kind::kAsked); });
    running = &program;
    disk.fail_after(trouble.passed, trouble.failure);
    work(program);
    program.close_store();
    failures_ = program.failures();
  }
  disk.heal();
  mounted.unmount();
  failed_count_ = disk.failed_count();
  events_ = disk.events();
}

// The disk is well again when the program had its answers from the ill one.
void BlockRig::note_answer(const Program& program, RecordedDisk& disk, const DiskTrouble& trouble) {
  const bool succeeded = !program.answers().empty() && program.answers().back().status.ok();
  if (succeeded && refused_) late_successes_ += 1;
  if (!succeeded) refused_ = true;
  if (disk.failed_count() == 0) return;
  answers_in_trouble_ += 1;
  if (answers_in_trouble_ == trouble.answers) disk.heal();
}

void BlockRig::look_at_losses(const StateChoice& choice, std::string_view until) {
  for_each_block_state(base_, events_, choice, [&](const BlockState& state) {
    if (!until.empty() && findings_.count(until) > 0) return;
    findings_.set_context("  " + state.name + "\n");
    look(state.flushed, state.kept, ledgers_.at(state.marks));
  });
}

void BlockRig::look_at_end() {
  DiskImage image = base_;
  for (const BlockEvent& event : events_) image.write(event.offset, event.bytes);
  look(image, {}, ledgers_.back());
}

void BlockRig::look(const DiskImage& image, const std::vector<KeptWrite>& kept,
                    const Ledger& ledger) {
  const std::string path = memory_folder() + "/state";
  state_count_ += 1;
  write_image(path, image, kind_.size_bytes);
  write_over(path, kept);
  try {
    Mounted mounted(kind_, path);
    FolderFileSystem files(mounted.folder());
    const auto restart = [&]() -> io::FileSystem& { return files; };
    check_place({files, [&] { return mounted.files(); }, restart}, ledger, {}, findings_);
    mounted.unmount();
  } catch (const std::system_error& error) {
    findings_.add("MOUNT", error.what());
  }
}

std::string why_not(const BlockFileSystem& kind) {
  if (std::string reason = enter_own_mounts(); !reason.empty()) return reason;
  try {
    BlockRig(kind).run([](Program&) {});
  } catch (const std::system_error& error) {
    return error.what();
  }
  return {};
}

}  // namespace varve::crash
