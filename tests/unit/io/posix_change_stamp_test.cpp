#include "io/posix_change_stamp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "io/posix.h"
#include "temporary_directory.h"

namespace varve::io {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kNowNs = 1'800'000'000 * kSecondNs;

struct stat file_changed(int64_t ago_ns, nlink_t link_count = 1, mode_t kind = S_IFREG) {
  struct stat status {};
  status.st_mode = kind | 0600;
  status.st_nlink = link_count;
  status.st_ctim.tv_sec = (kNowNs - ago_ns) / kSecondNs;
  status.st_ctim.tv_nsec = (kNowNs - ago_ns) % kSecondNs;
  return status;
}

TEST(ChangeStamp, IsTheTimeOfALastChangeThatIsLongAgo) {
  const uint64_t stamp = change_stamp_of(file_changed(10 * kSecondNs), kNowNs);
  EXPECT_NE(stamp, 0U);
  EXPECT_EQ(stamp, change_stamp_of(file_changed(10 * kSecondNs), kNowNs));
  EXPECT_NE(stamp, change_stamp_of(file_changed(10 * kSecondNs - 1), kNowNs));
}

TEST(ChangeStamp, ThereIsNoneWhileAnotherChangeCouldHaveTheSameTime) {
  constexpr int64_t kStepsNs = 50'000'000;
  for (const int64_t ago_ns : {-5 * kSecondNs, int64_t{0}, int64_t{1}, kStepsNs}) {
    EXPECT_EQ(change_stamp_of(file_changed(ago_ns), kNowNs), 0U) << ago_ns;
  }
  EXPECT_NE(change_stamp_of(file_changed(kStepsNs + 1), kNowNs), 0U);
  EXPECT_EQ(change_stamp_of(file_changed(kNowNs), kNowNs), 0U) << "a file without times";
}

// In a file system that counts in seconds a change in the same second has the same time.
TEST(ChangeStamp, AWholeSecondMayBeARoundedOne) {
  EXPECT_EQ(change_stamp_of(file_changed(kSecondNs), kNowNs), 0U);
  EXPECT_EQ(change_stamp_of(file_changed(2 * kSecondNs), kNowNs), 0U);
  EXPECT_NE(change_stamp_of(file_changed(3 * kSecondNs), kNowNs), 0U);
  EXPECT_NE(change_stamp_of(file_changed(kSecondNs + 1), kNowNs), 0U);
}

// With another name it may lose this one and keep its stamp; and a directory's is of its names.
TEST(ChangeStamp, OnlyFilesWithOneNameHaveOne) {
  EXPECT_EQ(change_stamp_of(file_changed(10 * kSecondNs, 0), kNowNs), 0U);
  EXPECT_EQ(change_stamp_of(file_changed(10 * kSecondNs, 2), kNowNs), 0U);
  EXPECT_EQ(change_stamp_of(file_changed(10 * kSecondNs, 1, S_IFDIR), kNowNs), 0U);
}

TEST(ChangeStamp, OnlyKnownFileSystemsHaveThem) {
  EXPECT_TRUE(has_change_stamps(0xEF53)) << "ext4";
  EXPECT_TRUE(has_change_stamps(0x01021994)) << "tmpfs";
  EXPECT_FALSE(has_change_stamps(0x6969)) << "NFS: changed by other machines";
  EXPECT_FALSE(has_change_stamps(0x65735546)) << "FUSE: a program's own";
  EXPECT_FALSE(has_change_stamps(0x794c7630)) << "overlay: another file once it is written";
  EXPECT_FALSE(has_change_stamps(0x4d44)) << "FAT";
}

// The one file that is nearly always old enough: this program. Where it was linked a moment ago,
// its stamp may come to count while this runs.
TEST(ChangeStamp, OfAnOldFileIsTheSameByNameAndByHandle) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  auto directory = PosixFileSystem().open_root(program.parent_path().string(), false);
  ASSERT_TRUE(directory.ok()) << directory.status().message();
  struct statfs file_system {};
  ASSERT_EQ(::statfs(program.c_str(), &file_system), 0);
  struct stat status {};
  ASSERT_EQ(::stat(program.c_str(), &status), 0);
  const bool is_known = has_change_stamps(static_cast<uint32_t>(file_system.f_type));
  const auto stamp_now = [&] { return is_known ? change_stamp_of(status) : 0; };
  const uint64_t before = stamp_now();
  const auto by_name = (*directory)->find(program.filename().string());
  ASSERT_TRUE(by_name.ok() && *by_name);
  const auto by_info = (*directory)->info(program.filename().string());
  ASSERT_TRUE(by_info.ok());
  auto file = (*directory)->open(program.filename().string(), OpenMode::kRead);
  ASSERT_TRUE(file.ok());
  const uint64_t by_handle = (*file)->info()->change_stamp;
  const uint64_t after = stamp_now();
  EXPECT_TRUE((*by_name)->change_stamp == before || (*by_name)->change_stamp == after);
  EXPECT_TRUE(by_info->change_stamp == before || by_info->change_stamp == after);
  EXPECT_TRUE(by_handle == before || by_handle == after);
}

TEST(ChangeStamp, AFileJustWrittenHasNone) {
  const TemporaryDirectory temporary;
  put_file(temporary.path_of("file"), "x");
  auto directory = PosixFileSystem().open_root(temporary.path(), false);
  ASSERT_TRUE(directory.ok());
  EXPECT_EQ((**(*directory)->find("file")).change_stamp, 0U);
  EXPECT_EQ((*directory)->info("file")->change_stamp, 0U);
  EXPECT_EQ((*(*directory)->open("file", OpenMode::kRead))->info()->change_stamp, 0U);
}

}  // namespace
}  // namespace varve::io
