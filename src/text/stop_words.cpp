#include "text/stop_words.h"

#include <array>

namespace varve::text {

namespace {

// Articles and pointers, persons, auxiliary verbs, question words, joints of sentences, negations.
// Chosen by measurement (docs/retrieval.md).
constexpr auto kEnglish = std::to_array<std::string_view>({
    "a",       "an",       "the",       "this",     "that",       "these",   "those",  "some",
    "any",     "all",      "each",      "both",     "every",      "other",   "i",      "me",
    "my",      "mine",     "myself",    "we",       "us",         "our",     "ours",   "ourselves",
    "you",     "your",     "yours",     "yourself", "yourselves", "he",      "him",    "his",
    "himself", "she",      "her",       "hers",     "herself",    "it",      "its",    "itself",
    "they",    "them",     "their",     "theirs",   "themselves", "am",      "is",     "are",
    "was",     "were",     "be",        "been",     "being",      "do",      "does",   "did",
    "doing",   "done",     "have",      "has",      "had",        "having",  "will",   "would",
    "shall",   "should",   "can",       "could",    "may",        "might",   "must",   "cannot",
    "what",    "which",    "who",       "whom",     "whose",      "when",    "where",  "why",
    "how",     "many",     "much",      "and",      "or",         "but",     "if",     "then",
    "than",    "so",       "as",        "of",       "at",         "by",      "for",    "from",
    "in",      "into",     "on",        "onto",     "to",         "with",    "about",  "there",
    "here",    "not",      "no",        "nor",      "don't",      "doesn't", "didn't", "isn't",
    "aren't",  "wasn't",   "weren't",   "haven't",  "hasn't",     "hadn't",  "won't",  "wouldn't",
    "can't",   "couldn't", "shouldn't", "mustn't",
});

}  // namespace

std::span<const std::string_view> stop_words_of(std::string_view language) {
  if (language == "en") return kEnglish;
  return {};
}

}  // namespace varve::text
