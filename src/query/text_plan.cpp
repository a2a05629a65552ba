#include "query/text_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "text/characters.h"

namespace varve::query {

namespace {

using Kind = TextClause::Kind;
using Sign = TextClause::Sign;

std::string fold_pattern(std::string_view pattern) {
  std::string folded;
  text::append_folded_word(pattern, &folded);
  return folded;
}

// One character of a script without spaces: its words have two.
bool is_lone_character(std::string_view word) {
  const auto character = text::character_at(word, 0);
  return character.character_class == text::CharacterClass::kUnspaced &&
         character.size_bytes == word.size();
}

// The compounds that are no part of another, in the text's order.
std::vector<text::Words::Word> outermost_compounds(const text::Words& found) {
  std::vector<text::Words::Word> outermost;
  for (const auto& one : found.compounds()) {  // a whole comes before its parts
    const bool is_part = !outermost.empty() && one.source_begin < outermost.back().source_end;
    if (!is_part) outermost.push_back(one);
  }
  return outermost;
}

class TextPlanner {
 public:
  TextPlanner(const index::Index& index, text::Analyzer& analyzer)
      : index_(index), analyzer_(analyzer) {}

  Result<TextPlan> plan(std::string_view text) {
    auto clauses = parse_text(text);
    settle_phrases(&clauses);
    for (const TextClause& clause : clauses) VARVE_TRY(add(clause));
    rank();
    const bool has_conditions = !plan_.required.empty() || !plan_.checks.empty();
    const bool has_exclusions = !plan_.excluded.empty() || has_negative_check();
    plan_.has_no_words = plan_.terms.empty() && !has_conditions && !has_exclusions;
    plan_.needs_term = has_ranked_clause_ && !has_must_;
    return std::move(plan_);
  }

 private:
  bool has_words(const TextClause& clause) {
    return !analyzer_.read(clause.text).words().empty();
  }

  // A phrase without words says nothing; one without plain words beside it must be there.
  void settle_phrases(std::vector<TextClause>* clauses) {
    const auto is_phrase = [](const auto& clause) { return clause.kind == Kind::kPhrase; };
    const auto asks = [](const auto& clause) { return clause.sign != Sign::kNot; };
    const auto is_plain = [&](const auto& clause) {
      return !is_phrase(clause) && clause.sign == Sign::kRanked && has_words(clause);
    };
    if (std::none_of(clauses->begin(), clauses->end(), is_phrase)) return;
    const bool asked = std::any_of(clauses->begin(), clauses->end(), asks);
    std::erase_if(*clauses, [&](const auto& one) { return is_phrase(one) && !has_words(one); });
    if (asked && clauses->empty()) plan_.matches_nothing = true;
    if (std::any_of(clauses->begin(), clauses->end(), is_plain)) return;
    for (TextClause& clause : *clauses) {
      if (is_phrase(clause) && clause.sign == Sign::kRanked) clause.sign = Sign::kMust;
    }
  }

  [[nodiscard]] bool has_negative_check() const {
    return std::any_of(plan_.checks.begin(), plan_.checks.end(),
                       [](const auto& check) { return check.sign == Sign::kNot; });
  }

  Status add(const TextClause& clause) {
    if (clause.sign == Sign::kRanked) has_ranked_clause_ = true;
    if (clause.sign == Sign::kMust) has_must_ = true;
    switch (clause.kind) {
      case Kind::kWords: return add_words(clause);
      case Kind::kPhrase: return add_phrase(clause);
      case Kind::kWildcard: break;
    }
    return add_wildcard(clause.text, clause.sign);
  }

  Status add_words(const TextClause& clause) {
    const text::Words& found = analyzer_.read(clause.text);
    for (const auto& word : found.words()) {
      const std::string text(found.text(word));
      if (clause.sign != Sign::kNot) words_.push_back(text);
      if (is_lone_character(text)) VARVE_TRY(add_wildcard("*" + text + "*", clause.sign));
    }
    if (clause.sign != Sign::kNot) {
      for (const auto& one : found.compounds()) compounds_.emplace_back(found.text(one));
    }
    if (clause.sign == Sign::kRanked) return {};
    auto lists = lists_of(found);
    if (clause.sign == Sign::kMust) {
      require(lists);
    } else if (!lists.empty()) {
      plan_.excluded.push_back(std::move(lists));
    }
    return {};
  }

  // What holds all of it is in each of these: of the compounds that are no part of another, and of
  // the words that are in none.
  std::vector<index::PostingList> lists_of(const text::Words& found) {
    std::vector<index::PostingList> lists;
    const auto compounds = outermost_compounds(found);
    for (const auto& one : compounds) lists.push_back(index_.text().rows_of(found.text(one)));
    auto compound = compounds.begin();  // the first that does not end before the word
    for (const auto& word : found.words()) {
      while (compound != compounds.end() && compound->source_end <= word.source_begin) ++compound;
      const bool is_part =
          compound != compounds.end() && compound->source_begin <= word.source_begin;
      const std::string text(found.text(word));
      if (!is_part && !is_lone_character(text)) lists.push_back(rows_of_word(text));
    }
    return lists;
  }

  Status add_phrase(const TextClause& clause) {
    TextCheck check;
    check.sign = clause.sign;
    check.text = "\"" + clause.text + "\"";
    const text::Words& found = analyzer_.read(clause.text);  // some: settle_phrases()
    check.phrase.emplace(found);
    std::set<std::string> seen;
    for (const auto& word : found.words()) {
      const std::string text(found.text(word));
      if (clause.sign != Sign::kNot) words_.push_back(text);
      if (seen.insert(text).second) check.lists.push_back(rows_of_word(text));
    }
    for (const auto& compound : found.compounds()) {
      const std::string text(found.text(compound));
      if (tail_of(text).empty()) continue;
      if (clause.sign != Sign::kNot) compounds_.push_back(text);
      check.lists.push_back(index_.text().rows_of(text));
    }
    if (clause.sign == Sign::kMust) require(check.lists);
    plan_.checks.push_back(std::move(check));
    return {};
  }

  // Words that match, by their stems; and whether those stems have forms that do not.
  struct Expansion {
    std::set<std::string> stems;
    bool is_exact = true;
  };

  Result<Expansion> expand(const text::Wildcard& wildcard, std::string_view pattern) {
    Expansion expansion;
    size_t count = 0;
    index_.text().for_each_word(wildcard.prefix(),
                                [&](std::string_view word, std::string_view stem) {
                                  if (wildcard.matches(word)) {
                                    expansion.stems.emplace(stem);
                                    count += 1;
                                  }
                                  return count <= kExpansionsMax;
                                });
    if (count > kExpansionsMax) {
      return Status(Code::kInvalidArgument,
                    "the wildcard '" + std::string(pattern) + "' matches more than " +
                        std::to_string(kExpansionsMax) + " words; give more of the word");
    }
    index_.text().for_each_word("", [&](std::string_view word, std::string_view stem) {
      expansion.is_exact = wildcard.matches(word) || !expansion.stems.contains(std::string(stem));
      return expansion.is_exact;
    });
    return expansion;
  }

  Status add_wildcard(std::string_view written, Sign sign) {
    const std::string pattern = fold_pattern(written);
    auto wildcard = text::Wildcard::parse(pattern);
    if (!wildcard) {
      return {Code::kInvalidArgument, "the wildcard '" + std::string(written) +
                                          "' is longer than 63 characters; shorten it"};
    }
    VARVE_TRY_ASSIGN(const Expansion expansion, expand(*wildcard, written));
    VARVE_TRY_ASSIGN(const auto matching, rows_of(expansion.stems));
    plan_.rank_rows(pattern, matching, index_);
    const index::PostingList rows = plan_.terms.back().rows;
    plan_.terms.pop_back();
    if (sign != Sign::kNot) wildcards_.push_back({pattern, rows});
    if (sign == Sign::kMust) require({rows});
    if (sign == Sign::kNot && expansion.is_exact) plan_.excluded.push_back({rows});
    if (sign != Sign::kRanked && !expansion.is_exact) {
      TextCheck check;
      check.sign = sign;
      check.text = written;
      check.wildcard = std::move(wildcard);
      check.lists = {rows};
      plan_.checks.push_back(std::move(check));
    }
    return {};
  }

  // All rows of some terms; kCorruption when a list is damaged.
  Result<std::vector<uint32_t>> rows_of(const std::set<std::string>& stems) {
    std::vector<uint32_t> rows;
    for (const auto& stem : stems) {
      const index::PostingList list = index_.text().rows_of(stem);
      for (const auto& run : list.runs) {
        index::DecodedBlock decoded;
        if (run.is_damaged()) return index::damaged_list();
        for (uint32_t block = 0; block < run.block_count(); ++block) {
          const uint32_t count = run.decode(block, &decoded);
          if (count != run.rows_in(block)) return index::damaged_list();
          rows.insert(rows.end(), decoded.rows.begin(), decoded.rows.begin() + count);
        }
      }
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  void require(const std::vector<index::PostingList>& lists) {
    for (const auto& list : lists) {
      if (list.is_empty()) plan_.matches_nothing = true;
      plan_.required.push_back(list);
    }
  }

  // What was found of a word: a clause asks for it, and the ranking again.
  struct KnownWord {
    std::string word;
    std::string term;
    index::PostingList rows;
  };

  // Valid until the next one is looked up.
  const KnownWord& look_up(const std::string& word) {
    for (const KnownWord& known : known_words_) {
      if (known.word == word) return known;
    }
    std::string term(analyzer_.stem(word));
    const index::PostingList rows = index_.text().rows_of(term);
    return known_words_.emplace_back(KnownWord{word, std::move(term), rows});
  }

  const index::PostingList& rows_of_word(const std::string& word) { return look_up(word).rows; }

  // Stop words count only where there is nothing else.
  void rank() {
    const bool has_others = std::any_of(words_.begin(), words_.end(), [&](const auto& word) {
      return !analyzer_.is_stop_word(word);
    });
    plan_.terms.reserve(words_.size() + compounds_.size() + wildcards_.size());
    known_words_.reserve(known_words_.size() + words_.size());
    for (const auto& word : words_) {
      if (is_lone_character(word) || (has_others && analyzer_.is_stop_word(word))) continue;
      const KnownWord& known = look_up(word);
      rank_term(known.term, known.rows);
    }
    for (const auto& compound : compounds_) rank_term(compound, index_.text().rows_of(compound));
    for (auto& wildcard : wildcards_) {
      if (!wildcard.rows.is_empty()) plan_.terms.push_back(std::move(wildcard));
    }
    plan_.words = std::move(words_);
  }

  void rank_term(const std::string& term, const index::PostingList& rows) {
    const bool is_ranked = std::any_of(plan_.terms.begin(), plan_.terms.end(),
                                       [&](const auto& ranked) { return ranked.text == term; });
    if (!rows.is_empty() && !is_ranked) plan_.terms.push_back({term, rows});
  }

  const index::Index& index_;
  text::Analyzer& analyzer_;
  TextPlan plan_;
  std::vector<KnownWord> known_words_;
  std::vector<std::string> words_;
  std::vector<std::string> compounds_;
  std::vector<RankedTerm> wildcards_;
  bool has_ranked_clause_ = false;
  bool has_must_ = false;
};

}  // namespace

bool TextPlan::finds_nothing(bool is_checked) const {
  const bool may_rank =
      !terms.empty() || (!is_checked && std::any_of(checks.begin(), checks.end(), [](auto& check) {
                           return check.sign == Sign::kRanked;
                         }));
  return matches_nothing || has_no_words || (needs_term && !may_rank);
}

void TextPlan::rank_rows(std::string text, const std::vector<uint32_t>& rows,
                         const index::Index& index) {
  index::PostingBuffer& list = own_lists.emplace_back();
  for (const uint32_t row : rows) {
    if (row < index.text_row_count()) list.add(row, 1, index.text().length(row));
  }
  RankedTerm term;
  term.text = std::move(text);
  term.rows.runs[1] = index::PostingRun(list);
  terms.push_back(std::move(term));
}

Result<TextPlan> plan_text(std::string_view text, const index::Index& index,
                           text::Analyzer& analyzer) {
  return TextPlanner(index, analyzer).plan(text);
}

}  // namespace varve::query
