#include "cli/arguments/command_words.h"

namespace varve::cli {
namespace {

constexpr char kMark = '\0';  // no word of a command line can have one

// CLI11 takes a word apart that begins and ends like a list, if its option may take several words.
std::string marked(const std::string& word) {
  const bool is_like_list = word.starts_with('[') && word.ends_with(']');
  return is_like_list ? word + kMark : word;
}

// Tells options, their values and the command apart, word by word.
class WordReader {
 public:
  explicit WordReader(const CLI::App& app) : app_(app) {}

  void read(const std::string& word) {
    const bool is_value = value_follows_;
    value_follows_ = false;
    if (is_value) {
      words_.push_back(word);
    } else if (only_operands_) {
      words_.push_back(word.starts_with('-') ? word + kMark : marked(word));
    } else if (word == "--") {
      only_operands_ = true;
      words_.push_back(word);
    } else if (word.starts_with('-')) {
      read_option(word);
    } else {
      read_operand(word);
    }
  }

  [[nodiscard]] std::vector<std::string> words() && { return std::move(words_); }

 private:
  void read_option(const std::string& word) {
    const std::string name = word.substr(0, word.size() - 1);
    if (word.ends_with('=') && word.starts_with("--") && takes_value(name)) {
      words_.insert(words_.end(), {name, std::string()});
    } else {
      value_follows_ = wants_value(word);
      words_.push_back(word);
    }
  }

  void read_operand(const std::string& word) {
    if (command_ == nullptr) command_ = find_command(word);
    const bool is_help = is_first_operand_ && command_ == nullptr && word == "help";
    words_.push_back(is_help ? "--help" : marked(word));
    is_first_operand_ = false;
  }

  [[nodiscard]] const CLI::App* find_command(const std::string& word) const {
    const auto found =
        app_.get_subcommands([&](const CLI::App* command) { return command->check_name(word); });
    return found.empty() ? nullptr : found.front();
  }

  [[nodiscard]] bool takes_value(const std::string& name) const {
    const CLI::Option* option = command_ == nullptr ? nullptr : command_->get_option_no_throw(name);
    if (option == nullptr) option = app_.get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() > 0;
  }

  // Whether the next word is a value: after --name, and after the last letter of -abc.
  [[nodiscard]] bool wants_value(const std::string& word) const {
    if (word.starts_with("--")) return takes_value(word);
    for (size_t i = 1; i < word.size(); ++i) {
      if (takes_value({'-', word[i]})) return i + 1 == word.size();
    }
    return false;
  }

  const CLI::App& app_;
  const CLI::App* command_ = nullptr;
  bool is_first_operand_ = true;
  bool value_follows_ = false;
  bool only_operands_ = false;  // after "--"
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> command_words(const CLI::App& app, const std::vector<std::string>& given) {
  WordReader reader(app);
  for (const std::string& word : given) reader.read(word);
  return std::move(reader).words();
}

std::string given_word(std::string word) {
  if (word.ends_with(kMark)) word.pop_back();
  return word;
}

bool is_operand_like_option(const std::string& word) {
  return word.starts_with('-') && word.ends_with(kMark);
}

}  // namespace varve::cli
