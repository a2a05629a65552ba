#include "query/text_plan.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "base/utf8.h"
#include "query/text_lookup.h"
#include "text/characters.h"

namespace varve::query {

namespace {

using Kind = TextClause::Kind;
using Sign = TextClause::Sign;

// As words are folded, whose typographic apostrophes and hyphens are those of ASCII.
std::string fold_pattern(std::string_view pattern) {
  std::string plain;
  for (size_t at = 0; at < pattern.size();) {
    const text::Character character = text::character_at(pattern, at);
    const std::string_view written = pattern.substr(at, character.size_bytes);
    switch (character.character_class) {
      case text::CharacterClass::kApostrophe: plain.push_back('\''); break;
      case text::CharacterClass::kConnector:
        plain.append(written.size() == 1 ? written : "-");
        break;
      default: plain.append(written);
    }
    at += written.size();
  }
  std::string folded;
  text::append_folded_word(plain, &folded);
  return folded;
}

// A star beside a character of a script without spaces adds nothing: there, words have no ends.
std::string_view without_idle_stars(std::string_view pattern) {
  const size_t first = pattern.find_first_not_of('*');
  const std::string_view without_last = pattern.substr(0, pattern.find_last_not_of('*') + 1);
  const auto back = text::last_character(without_last).character_class;
  if (back == text::CharacterClass::kUnspaced) pattern = without_last;
  const auto front = text::character_at(pattern, first).character_class;
  return front == text::CharacterClass::kUnspaced ? pattern.substr(first) : pattern;
}

// Whether a word has more than one character.
bool is_of_several(std::string_view word) {
  return word.size() > text::character_at(word, 0).size_bytes && !text::is_lone_unspaced(word);
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
  TextPlanner(const index::Index& index, text::Analyzer& analyzer, uint32_t row_end,
              const TextStatistics* shared, KnownSearches* known)
      : index_(index),
        analyzer_(analyzer),
        row_end_(row_end),
        shared_(shared),
        lookup_(index, analyzer, &plan_.own_lists, known) {}

  Result<TextPlan> plan(std::vector<TextClause> clauses) {
    drop_repeated(&clauses);
    for (const TextClause& clause : clauses) {
      if (clause.sign != Sign::kNot) plan_.question.append(clause.text).append(1, ' ');
    }
    drop_wordless(&clauses);
    settle_phrases(&clauses);
    for (const TextClause& clause : clauses) VARVE_TRY(add(clause));
    VARVE_TRY(rank());
    const bool has_conditions = !plan_.required.empty() || !plan_.checks.empty();
    const bool has_exclusions = !plan_.excluded.empty() || has_negative_check();
    plan_.has_no_words = plan_.terms.empty() && !has_conditions && !has_exclusions;
    plan_.needs_term = has_ranked_clause_ && !has_must_;
    plan_.asks_words = has_ranked_clause_ || has_must_;
    return std::move(plan_);
  }

 private:
  // Whatever is asked for twice says the same once. (Plain words are one clause.)
  static void drop_repeated(std::vector<TextClause>* clauses) {
    if (clauses->size() < 2) return;
    std::set<std::tuple<Kind, Sign, std::string>> seen;
    std::erase_if(*clauses, [&](const TextClause& clause) {
      return !seen.emplace(clause.kind, clause.sign, clause.text).second;
    });
  }

  bool has_words(const TextClause& clause) { return !analyzer_.read(clause.text).words().empty(); }

  // A sign by itself, punctuation and "" say nothing.
  void drop_wordless(std::vector<TextClause>* clauses) {
    std::erase_if(*clauses, [this](const TextClause& clause) {
      const text::Words& found = analyzer_.read(clause.text);
      return found.words().empty() && found.compounds().empty();
    });
  }

  // A phrase of emojis alone has no order to be checked: it is these.
  void settle_emojis(TextClause* clause) {
    if (clause->kind != Kind::kPhrase) return;
    const text::Words& found = analyzer_.read(clause->text);
    if (found.words().empty() && !found.compounds().empty()) clause->kind = Kind::kWords;
  }

  // A phrase without plain words beside it must be there.
  void settle_phrases(std::vector<TextClause>* clauses) {
    for (TextClause& clause : *clauses) settle_emojis(&clause);
    const auto is_phrase = [](const auto& clause) { return clause.kind == Kind::kPhrase; };
    const auto is_plain = [&](const auto& clause) {
      return !is_phrase(clause) && clause.sign == Sign::kRanked && has_words(clause);
    };
    if (std::none_of(clauses->begin(), clauses->end(), is_phrase)) return;
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
    if (clause.kind == Kind::kWildcard && clause.sign == Sign::kRanked) ranks_wildcard_ = true;
    switch (clause.kind) {
      case Kind::kWords: return add_words(clause);
      case Kind::kPhrase: return add_phrase(clause);
      case Kind::kWildcard: break;
    }
    return add_wildcard(clause);
  }

  // What holds something is in each of these lists, and has each of these phrases.
  struct Condition {
    std::vector<index::PostingList> lists;
    std::vector<Phrase> phrases;
    Tails tails;                 // of the words that it is made of
    std::set<std::string> seen;  // what is in it already
    std::string beyond;          // what is one more than may be looked for; empty: nothing

    void go_beyond(const std::string& text) {
      if (beyond.empty()) beyond = text;
    }
  };

  Status add_words(const TextClause& clause) {
    const text::Words& found = analyzer_.read(clause.text);
    if (clause.sign != Sign::kNot) VARVE_TRY(rank_words(found));
    if (clause.sign == Sign::kRanked) return {};
    VARVE_TRY_ASSIGN(Condition condition, condition_of(found));
    return add_condition(std::move(condition), clause.sign, clause.text);
  }

  Status rank_words(const text::Words& found) {
    for (const auto& word : found.words()) {
      const std::string& text = words_.emplace_back(found.text(word));
      if (!text::is_lone_unspaced(text)) continue;
      VARVE_TRY_ASSIGN(const auto matches, lookup_.character(text));
      if (matches.is_too_many) continue;  // the first so many rank
      wildcards_.push_back({"*" + text + "*", matches.rows, false});
    }
    for (const auto& one : found.compounds()) compounds_.emplace_back(found.text(one));
    for (const auto& one : found.joined()) parts_.emplace_back(found.text(one));
    for (const auto& word : found.words()) VARVE_TRY(rank_parts(found, word));
    return {};
  }

  // A name that no entry has is asked for by its parts: getUserProfile finds get_user_profile. A
  // stop word is no name: sessions do not tell one another whether they have it.
  Status rank_parts(const text::Words& found, const text::Words::Word& word) {
    auto part = std::lower_bound(
        found.parts().begin(), found.parts().end(), word.source_begin,
        [](const text::Words::Word& one, uint64_t begin) { return one.source_begin < begin; });
    const auto is_of_word = [&] {
      return part != found.parts().end() && part->source_end <= word.source_end;
    };
    const std::string text(found.text(word));
    if (!is_of_word() || analyzer_.is_stop_word(text)) return {};
    VARVE_TRY_ASSIGN(const TextLookup::Word* const known, lookup_.word(text));
    if (is_known(*known)) return {};
    for (; is_of_word(); ++part) parts_.emplace_back(found.text(*part));
    return {};
  }

  // Whether an entry has the word: of this session, as far as it is looked at, or of another.
  [[nodiscard]] bool is_known(const TextLookup::Word& word) const {
    if (shared_ != nullptr && shared_->row_counts.contains(word.term)) return true;
    if (row_end_ >= index_.text_row_count()) return !word.rows.is_empty();
    return index::PostingCursor(word.rows).seek(0) < row_end_;
  }

  // Of all compounds that are no part of another, and all words that are in none. Words between
  // which nothing stands are a phrase: "words" of scripts without spaces, and what touches them.
  Result<Condition> condition_of(const text::Words& found) {
    Condition condition;
    condition.tails = tails_of(found);
    const auto compounds = outermost_compounds(found);
    for (const auto& one : compounds) {
      const std::string text(found.text(one));
      if (!condition.seen.insert(text).second) continue;
      VARVE_TRY_ASSIGN(const auto matches, lookup_.segments(text));
      if (matches.is_too_many) condition.go_beyond(text);
      condition.lists.push_back(matches.rows);
    }
    auto compound = compounds.begin();  // the first that does not end before the word
    const auto& words = found.words();
    for (size_t first = 0, end = 0; first < words.size(); first = end) {
      end = first + 1;
      while (found.touches_next(end - 1)) ++end;
      const uint64_t begin = words[first].source_begin;
      while (compound != compounds.end() && compound->source_end <= begin) ++compound;
      const bool is_part = compound != compounds.end() && compound->source_begin <= begin;
      if (end - first > 1) {
        VARVE_TRY(require_phrase(found, first, end, &condition));
      } else if (!is_part) {
        VARVE_TRY(require_word(found, first, &condition));
      }
    }
    return condition;
  }

  Status require_word(const text::Words& found, size_t number, Condition* condition) {
    const std::string text(found.text(found.words()[number]));
    if (!condition->seen.insert(text).second) return {};
    if (!text::is_lone_unspaced(text)) {
      VARVE_TRY_ASSIGN(const TextLookup::Word* const known, lookup_.word(text));
      condition->lists.push_back(known->rows);
      return {};
    }
    VARVE_TRY_ASSIGN(const auto matches, lookup_.character(text));
    if (matches.is_too_many) condition->go_beyond(text);
    condition->lists.push_back(matches.rows);
    if (!matches.is_exact) {
      condition->phrases.emplace_back(found, condition->tails, number, number + 1);
    }
    return {};
  }

  Status require_phrase(const text::Words& found, size_t first, size_t end, Condition* condition) {
    std::string all;  // no word has a blank
    for (size_t i = first; i < end; ++i) {
      VARVE_TRY(require_word(found, i, condition));
      all.append(found.text(found.words()[i])).append(condition->tails[i]);
      all.append(found.goes_on(i) ? "  " : " ");
    }
    if (!condition->seen.insert(all).second) return {};
    // Each is looked for in every entry with its words, as those in quotes are.
    if (++phrase_count_ > kSearchesMax) {
      condition->go_beyond(all.substr(0, all.find_last_not_of(' ') + 1));
    }
    condition->phrases.emplace_back(found, condition->tails, first, end);
    return {};
  }

  Status add_phrase(const TextClause& clause) {
    const text::Words& found = analyzer_.read(clause.text);  // some: settle_phrases()
    Condition condition;
    condition.tails = tails_of(found);
    VARVE_TRY(require_phrase(found, 0, found.words().size(), &condition));
    for (const auto& word : found.words()) {
      if (clause.sign != Sign::kNot) words_.emplace_back(found.text(word));
    }
    for (const auto& compound : found.compounds()) {
      const std::string text(found.text(compound));
      if (tail_of(text).empty()) continue;
      if (clause.sign != Sign::kNot) compounds_.push_back(text);
      condition.lists.push_back(lookup_.compound(text));
    }
    return add_condition(std::move(condition), clause.sign, "\"" + clause.text + "\"");
  }

  // One that ranks is left out where it is too much: its words rank.
  Status add_condition(Condition condition, Sign sign, std::string written) {
    if (!condition.beyond.empty()) {
      return sign == Sign::kRanked ? Status() : too_many_searches(condition.beyond);
    }
    const bool is_of_lists = condition.phrases.empty();
    if (sign == Sign::kNot && is_of_lists && !condition.lists.empty()) {
      plan_.excluded.push_back(std::move(condition.lists));
      return {};
    }
    if (sign == Sign::kMust) require(condition.lists);
    if (is_of_lists && sign != Sign::kRanked) return {};
    TextCheck check;
    check.sign = sign;
    check.text = std::move(written);
    check.phrases = std::move(condition.phrases);
    check.lists = std::move(condition.lists);
    return add_check(std::move(check));
  }

  // What ranks is left out beyond so many: no text of a question is refused for its length.
  Status add_check(TextCheck check) {
    if (plan_.checks.size() < kSearchesMax) {
      plan_.checks.push_back(std::move(check));
    } else if (check.sign != Sign::kRanked) {
      return too_many_searches(check.text);
    }
    return {};
  }

  Status add_wildcard(const TextClause& clause) {
    const std::string pattern = fold_pattern(clause.text);
    auto wildcard = text::Wildcard::parse(pattern);
    // Too long for one: no text is malformed, so it is words.
    if (!wildcard) return add_words({Kind::kWords, clause.sign, clause.text});
    if (text::has_unspaced(pattern)) return add_unspaced_wildcard(clause, pattern);
    const bool is_ranked = clause.sign == Sign::kRanked;
    if (!lookup_.may_search()) {
      return is_ranked ? add_words({Kind::kWords, clause.sign, clause.text})
                       : too_many_searches(clause.text);
    }
    VARVE_TRY_ASSIGN(const auto matches, lookup_.matches(*wildcard, !is_ranked));
    if (matches.is_too_many) return too_many(clause.text);
    if (clause.sign != Sign::kNot) wildcards_.push_back({pattern, matches.rows, false});
    if (clause.sign == Sign::kMust) require({matches.rows});
    if (clause.sign == Sign::kNot && matches.is_exact) plan_.excluded.push_back({matches.rows});
    if (is_ranked || matches.is_exact) return {};
    return add_wildcard_check(clause, std::move(wildcard), {matches.rows}, false);
  }

  static Status too_many(const std::string& written) {
    return {Code::kInvalidArgument,
            "the wildcard '" + shown(written) + "' matches more than " +
                std::to_string(kExpansionsMax) + " words; give more of the word",
            {.member = "text"}};
  }

  static Status too_many_searches(const std::string& written) {
    return {Code::kInvalidArgument,
            "'" + shown(written) + "' is one more than the " + std::to_string(kSearchesMax) +
                " wildcards, phrases and single characters that a text may require or exclude;"
                " ask with fewer of them",
            {.member = "text"}};
  }

  Status add_wildcard_check(const TextClause& clause, std::optional<text::Wildcard> wildcard,
                            std::vector<index::PostingList> lists, bool is_unspaced) {
    TextCheck check;
    check.sign = clause.sign;
    check.text = clause.text;
    check.wildcard = std::move(wildcard);
    check.lists = std::move(lists);
    check.wildcard_is_unspaced = is_unspaced;
    return add_check(std::move(check));
  }

  // Where words have two characters, what has more is looked for in the texts.
  Status add_unspaced_wildcard(const TextClause& clause, std::string_view pattern) {
    const std::string_view bare = without_idle_stars(pattern);
    if (bare.find_first_of("*?") == std::string_view::npos) {
      const TextClause run{Kind::kWords, clause.sign, std::string(bare)};
      return clause.sign == Sign::kRanked ? rank_whole(run) : add_words(run);
    }
    Condition condition;
    for (std::string_view rest = bare; !rest.empty();) {
      const size_t end = std::min(rest.size(), rest.find_first_of("*?"));
      VARVE_TRY(require_unspaced(rest.substr(0, end), &condition));
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
    if (!condition.beyond.empty()) {
      return clause.sign == Sign::kRanked ? add_words({Kind::kWords, clause.sign, clause.text})
                                          : too_many_searches(condition.beyond);
    }
    if (clause.sign == Sign::kMust) require(condition.lists);
    if (clause.sign == Sign::kRanked) VARVE_TRY(rank_as_questions(bare));
    return add_wildcard_check(clause, text::Wildcard::parse(bare), std::move(condition.lists),
                              true);
  }

  // Who writes without spaces writes none behind a question mark: where words of several characters
  // stand on both sides of each, they rank as those of sentences do.
  Status rank_as_questions(std::string_view pattern) {
    const text::Words& found = analyzer_.read(pattern);
    const auto& words = found.words();
    const auto has_word = [&](auto is_beside) {
      return std::any_of(words.begin(), words.end(), [&](const auto& word) {
        return is_beside(word) && is_of_several(found.text(word));
      });
    };
    for (size_t at = 0; at < pattern.size(); ++at) {
      const bool asks = pattern[at] == '?' &&
                        has_word([at](const auto& word) { return word.source_end == at; }) &&
                        has_word([at](const auto& word) { return word.source_begin == at + 1; });
      if (pattern[at] == '*' || (pattern[at] == '?' && !asks)) return {};
    }
    return rank_words(found);
  }

  // By the rows that have all of it, not by its words.
  Status rank_whole(const TextClause& clause) {
    VARVE_TRY_ASSIGN(Condition condition, condition_of(analyzer_.read(clause.text)));
    if (!condition.beyond.empty()) return add_words(clause);
    if (condition.phrases.empty() && condition.lists.size() == 1) {
      wildcards_.push_back({clause.text, condition.lists.front(), false});
      return {};
    }
    return add_condition(std::move(condition), clause.sign, clause.text);
  }

  // Of a part of a wildcard: what stands at its ends may be a part of a word, but for characters
  // of scripts without spaces.
  Status require_unspaced(std::string_view part, Condition* condition) {
    const text::Words& found = analyzer_.read(part);
    condition->tails = tails_of(found);
    for (size_t i = 0; i < found.words().size(); ++i) {
      if (found.is_unspaced(found.words()[i])) VARVE_TRY(require_word(found, i, condition));
    }
    return {};
  }

  void require(const std::vector<index::PostingList>& lists) {
    for (const auto& list : lists) {
      if (list.is_empty()) plan_.matches_nothing = true;
      plan_.required.push_back(list);
    }
  }

  // Stop words count only where there is nothing else: no word, no compound, no wildcard.
  Status rank() {
    const auto counts = [&](const auto& word) { return !analyzer_.is_stop_word(word); };
    const bool has_others = std::any_of(words_.begin(), words_.end(), counts) ||
                            std::any_of(parts_.begin(), parts_.end(), counts) || ranks_wildcard_ ||
                            !compounds_.empty() || !wildcards_.empty();
    plan_.terms.reserve(words_.size() + parts_.size() + compounds_.size() + wildcards_.size());
    lookup_.reserve_words(words_.size() + parts_.size());
    for (const auto* words : {&words_, &parts_}) {
      for (const auto& word : *words) VARVE_TRY(rank_word(word, has_others));
    }
    for (const auto& compound : compounds_) rank_term(compound, lookup_.compound(compound));
    for (const auto& wildcard : wildcards_) rank_term(wildcard.text, wildcard.rows);
    plan_.words = std::move(words_);
    return {};
  }

  Status rank_word(const std::string& word, bool has_others) {
    if (text::is_lone_unspaced(word) || (has_others && analyzer_.is_stop_word(word))) return {};
    VARVE_TRY_ASSIGN(const TextLookup::Word* const known, lookup_.word(word));
    rank_term(known->term, known->rows);
    rank_term(index::kPartSign + known->term, lookup_.part(known->term), true);
    return {};
  }

  void rank_term(const std::string& term, const index::PostingList& rows, bool is_part = false) {
    if (rows.is_empty() || !ranked_.insert(term).second) return;
    plan_.terms.push_back({term, rows, is_part});
  }

  const index::Index& index_;
  text::Analyzer& analyzer_;
  uint32_t row_end_;
  const TextStatistics* shared_;
  TextPlan plan_;
  TextLookup lookup_;  // its lists are the plan's
  std::vector<std::string> words_;
  std::vector<std::string> parts_;  // asked for as words: of names that no entry has, and what
                                    // hyphens join, as one word
  std::vector<std::string> compounds_;
  std::vector<RankedTerm> wildcards_;
  boost::unordered_flat_set<std::string> ranked_;  // the texts of the plan's terms
  size_t phrase_count_ = 0;
  bool has_ranked_clause_ = false;
  bool has_must_ = false;
  bool ranks_wildcard_ = false;
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
  const bool is_ranked = std::any_of(terms.begin(), terms.end(), [&](const auto& ranked) {
    return ranked.text == text && !ranked.is_part;
  });
  if (is_ranked) return;
  terms.push_back({std::move(text), list_of_rows(rows, index, &own_lists), false});
}

Result<TextPlan> plan_text(std::vector<TextClause> clauses, const index::Index& index,
                           text::Analyzer& analyzer, uint32_t row_end, const TextStatistics* shared,
                           KnownSearches* known) {
  return TextPlanner(index, analyzer, row_end, shared, known).plan(std::move(clauses));
}

}  // namespace varve::query
