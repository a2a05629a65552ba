// Runs the conformance cases through varve.hpp: conformance_cpp CASES_FOLDER
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "operations.h"

namespace {

namespace fs = std::filesystem;
using varve_conformance::Mismatch;

// A directory of its own, removed with everything in it.
class TempDirectory {
 public:
  TempDirectory() {
    std::string name = (fs::temp_directory_path() / "varve-conformance-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Mismatch("no temporary directory");
    path_ = name;
  }
  ~TempDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void run_case(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const boost::json::value one = boost::json::parse(text);
  if (one.at("name").as_string() != path.stem().string()) throw Mismatch("it has another name");
  const TempDirectory directory;
  varve_conformance::Run run(directory.path());
  int number = 0;
  for (const boost::json::value& step : one.at("steps").as_array()) {
    const std::string operation(step.at("op").as_string());
    const std::string place = "step " + std::to_string(++number) + " (" + operation + ")";
    try {
      run.step(step.as_object(), place);
    } catch (const Mismatch& problem) {
      const std::string what = problem.what();
      throw Mismatch(what.starts_with("step ") ? what : place + ": " + what);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return std::fprintf(stderr, "conformance_cpp CASES_FOLDER\n"), 2;
  std::set<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(words[1])) {
    if (entry.path().extension() == ".json") paths.insert(entry.path());
  }
  size_t failed = 0;
  for (const fs::path& path : paths) {
    try {
      run_case(path);
    } catch (const std::exception& problem) {
      ++failed;
      std::printf("%s: %s\n", path.stem().c_str(), problem.what());
    }
  }
  std::printf("%zu cases, %zu failed\n", paths.size(), failed);
  return failed != 0 || paths.empty() ? 1 : 0;
}
