// A crash_worker as a child process: its standard output is read, its standard input held open.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace varve::crash {

class WorkerProcess {
 public:
  // `before`: a program and its arguments that the worker is run under.
  explicit WorkerProcess(std::vector<std::string> arguments, std::vector<std::string> before = {});
  ~WorkerProcess();  // killed and waited for when it still runs
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;

  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] int output() const { return output_; }  // to be polled

  // Reads what is there, at least something unless the output ended; whole lines only are given.
  // False at the end.
  bool read_lines(std::vector<std::string>* lines);
  bool read_line(std::string* line);  // waits for one

  void send(int signal) const;
  void close_input();
  void wait_until_stopped() const;
  // Waits for the end. 0 ..= 127: its exit code; 128 and above: 128 and the signal.
  int wait();

 private:
  void give_up();

  pid_t id_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string rest_;
  std::vector<std::string> waiting_;
};

}  // namespace varve::crash
