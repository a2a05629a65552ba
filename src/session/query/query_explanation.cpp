#include "session/query/query_explanation.h"

#include <utility>

#include "json/tree.h"
#include "query/vocabulary.h"

namespace varve::session {

namespace {

using json::Tree;

Tree explain_best(const query::BestParts& parts) {
  Tree tree = Tree::object();
  tree.set("match", Tree::number(parts.match));
  tree.set("neighbours", Tree::number(parts.neighbours));
  tree.set("answer", Tree::number(parts.answer));
  tree.set("stretch", Tree::number(parts.stretch));
  tree.set("role", Tree::number(parts.role));
  tree.set("date", Tree::number(parts.date));
  tree.set("relevance", Tree::number(parts.relevance));
  return tree;
}

Tree explain_fusion(const query::Query& query, const query::FusionParts& parts, bool fuses) {
  Tree tree = Tree::object();
  const auto rank = [](uint64_t number) {
    return number == 0 ? Tree() : Tree::integer_unsigned(number);
  };
  tree.set("similarity", parts.similarity ? Tree::number(*parts.similarity) : Tree());
  tree.set("rank", rank(parts.vector_rank));
  if (!fuses) return tree;
  tree.set("weight", Tree::number(query.vector_weight));
  tree.set("share", Tree::number(parts.vector));
  tree.set("text_rank", rank(parts.text_rank));
  tree.set("text_share", Tree::number(parts.text));
  return tree;
}

Tree explain_terms(const query::Answer& answer, const query::Hit& hit) {
  Tree terms = Tree::array();
  for (size_t i = 0; i < hit.terms.size() && i < answer.terms.size(); ++i) {
    if (hit.terms[i].first == 0) continue;
    Tree term = Tree::object();
    term.set("term", Tree::string(answer.terms[i].text));
    term.set("frequency", Tree::integer_unsigned(hit.terms[i].first));
    term.set("score", Tree::number(hit.terms[i].second));
    terms.push(std::move(term));
  }
  return terms;
}

Tree explain_decay(const decay::Rule& rule, const query::Relevance::Factors& factors) {
  Tree tree = Tree::object();
  tree.set("curve", Tree::string(decay::curve_name(rule.curve)));
  tree.set("half_life_hours", Tree::number(rule.half_life_hours));
  tree.set("min_decay_factor", Tree::number(rule.factor_min));
  tree.set("age_hours", Tree::number(factors.age_hours));
  tree.set("factor", Tree::number(factors.decay));
  return tree;
}

}  // namespace

std::string explain_hit(const index::Index& index, const decay::Rules& rules,
                        const query::Query& query, const query::Answer& answer,
                        const query::Hit& hit) {
  Tree tree = Tree::object();
  tree.set("sort_by", Tree::string(query::sort_name(query.sort_by)));
  tree.set("key", Tree::number(hit.place.key));
  tree.set("importance", Tree::number(hit.factors.importance));
  tree.set("recency_boost", Tree::number(hit.factors.boost));
  tree.set("decay", explain_decay(rules.of(index.type(hit.place.row)), hit.factors));
  if (query.has_text()) {
    tree.set("bm25", Tree::number(hit.match));
    tree.set("length", Tree::integer_unsigned(index.text().length(hit.place.row)));
    tree.set("terms", explain_terms(answer, hit));
  }
  if (hit.fusion) tree.set("vector", explain_fusion(query, *hit.fusion, answer.fuses));
  if (hit.best) tree.set("best", explain_best(*hit.best));
  return tree.canonical();
}

std::string explain_answer(const query::Query& query, const query::Answer& answer) {
  Tree tree = Tree::object();
  tree.set("strategy", Tree::string(answer.strategy));
  tree.set("rows_walked_at_most", Tree::integer_unsigned(answer.walk_count_max));
  tree.set("sort_by", Tree::string(query::sort_name(query.sort_by)));
  Tree terms = Tree::array();
  for (const auto& term : answer.terms) {
    Tree item = Tree::object();
    item.set("term", Tree::string(term.text));
    item.set("entries", Tree::integer_unsigned(term.row_count));
    item.set("idf", Tree::number(term.idf));
    terms.push(std::move(item));
  }
  if (query.has_text()) tree.set("terms", std::move(terms));
  return tree.canonical();
}

}  // namespace varve::session
