// A program that is told when to begin, and tells when it is ready and done: a byte each.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "rival.h"

namespace varve::bench {

// The program that opens this engine and links no other, with what it is to do.
std::vector<std::string> opener_arguments(const RivalEntry& rival, const std::string& directory,
                                          const std::vector<std::string>& command);

class Child {
 public:
  explicit Child(std::vector<std::string> arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void go();                         // one byte to its standard input
  void await();                      // one byte from its standard output
  [[nodiscard]] std::string rest();  // all that it still writes
  [[nodiscard]] int exit_status();   // when it has ended; anything but exit() ends the program

 private:
  std::string program_;
  pid_t process_ = 0;
  int input_ = -1;   // its standard input
  int output_ = -1;  // its standard output
};

}  // namespace varve::bench
