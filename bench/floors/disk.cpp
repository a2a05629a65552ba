#include "disk.h"

#include <fcntl.h>
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "give_up.h"

namespace varve::bench {

namespace {

constexpr size_t kBlockBytes = size_t{32} << 20;

std::string& text_of_block() {
  static std::string text(kBlockBytes, 'x');
  return text;
}

}  // namespace

Disk::Disk()
    : path_(directory_.path() / "log"),
      missing_(directory_.path() / "missing"),
      block_(kBlockBytes, 'x') {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ < 0) give_up(path_.string() + " could not be made");
  append(kBlockBytes);
  sync();
}

Disk::~Disk() { ::close(file_); }

void Disk::append(size_t bytes) {
  if (::write(file_, block_.data(), bytes) != static_cast<ssize_t>(bytes)) give_up("no write");
}

void Disk::sync() const {
  if (::fdatasync(file_) != 0) give_up("no sync");
}

void Disk::read(size_t bytes) const {
  std::string& text = text_of_block();
  if (::pread(file_, text.data(), bytes, 0) != static_cast<ssize_t>(bytes)) give_up("no read");
}

void Disk::stat() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) give_up("no stat");
}

void Disk::stat_open() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0) give_up("no stat of an open file");
}

void Disk::stat_missing() const {
  struct stat status {};
  if (::stat(missing_.c_str(), &status) == 0) give_up("a file is there that nobody made");
}

void copy_bytes(size_t bytes) {
  static std::string to(kBlockBytes, 'y');
  std::memcpy(to.data(), text_of_block().data(), bytes);
  // Or the compiler could see that nobody reads it.
  asm volatile("" : : "r"(to.data()) : "memory");
}

void hash_bytes(size_t bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;  // as base/sha256.cpp does it
  SHA256_Init(&context);
  SHA256_Update(&context, text_of_block().data(), bytes);
  SHA256_Final(digest.data(), &context);
  asm volatile("" : : "r"(digest.data()) : "memory");
}

void run_program() {
  std::string program = "/bin/true";
  std::array<char*, 2> arguments = {program.data(), nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    give_up(program + " could not be started");
  }
  waitpid(child, nullptr, 0);
}

}  // namespace varve::bench
