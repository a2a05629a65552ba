// Xapian: one document an entry, its words stemmed as English, boolean terms for id, tags and type,
// the time in a value slot. No positions, as its documentation advises when no phrases are asked
// for. A load is flushed every 10,000 entries, its default: more at once made it slower. Each add
// is committed, since only that survives the end of the process; durable is the default, buffered
// is DB_NO_SYNC.
#include <xapian.h>

#include "rival.h"

namespace varve::bench {

namespace {

constexpr Xapian::valueno kTimeSlot = 0;

// The prefixes of Xapian's conventions for boolean terms: Q an id, K a keyword, T a type.
std::string id_term(const std::string& id) { return "Q" + id; }
std::string tag_term(const std::string& tag) { return "K" + tag; }
std::string type_term(const std::string& type) { return "T" + type; }

// Runs `action`; a Xapian error, which is no std::exception, ends the program with its description.
template <typename Action>
auto checked(Action action) {
  try {
    return action();
  } catch (const Xapian::Error& error) {
    give_up("Xapian: " + error.get_description());
  }
}

class XapianRival final : public Rival {
 public:
  void open(const std::string& directory, bool durable) override {
    const int flags = Xapian::DB_CREATE_OR_OPEN | (durable ? 0 : Xapian::DB_NO_SYNC);
    checked([&] { database_ = Xapian::WritableDatabase(directory, flags); });
    words_.set_stemmer(stem_);
    words_.set_stemming_strategy(Xapian::TermGenerator::STEM_ALL);
  }

  void add(const WorkloadEntry& entry) override {
    checked([&] {
      put(entry);
      database_.commit();
    });
  }

  void add_all(const std::vector<WorkloadEntry>& entries) override {
    checked([&] {
      database_.begin_transaction();
      for (const auto& entry : entries) put(entry);
      database_.commit_transaction();
    });
  }

  void load(const std::vector<WorkloadEntry>& entries) override {
    checked([&] {
      for (const auto& entry : entries) put(entry);
    });
  }

  void finish_load() override {
    checked([&] { database_.commit(); });
  }

  size_t get(const std::string& id) override {
    return checked([&] {
      const auto found = database_.postlist_begin(id_term(id));
      if (found == database_.postlist_end(id_term(id))) give_up("Xapian: no entry " + id);
      return database_.get_document(*found).get_data().size();
    });
  }

  size_t delete_tagged(const std::string& tag) override {
    return checked([&] {
      const size_t count = database_.get_termfreq(tag_term(tag));
      database_.delete_document(tag_term(tag));
      database_.commit();
      return count;
    });
  }

  void compact(const std::string& copy_directory) override {
    checked([&] { database_.compact(copy_directory); });
  }

  bool find_tagged(const TaggedQuery& query, std::string* answer) override {
    return checked([&] {
      const Xapian::Query named(Xapian::Query::OP_AND, Xapian::Query(tag_term(query.tag)),
                                Xapian::Query(type_term(query.type)));
      // The end of OP_VALUE_RANGE belongs to it.
      const Xapian::Query timed(Xapian::Query::OP_VALUE_RANGE, kTimeSlot, slot_of(query.start_ms),
                                slot_of(query.end_ms - 1));
      Xapian::Enquire enquire(database_);
      enquire.set_query(Xapian::Query(Xapian::Query::OP_FILTER, named, timed));
      enquire.set_weighting_scheme(Xapian::BoolWeight());
      enquire.set_sort_by_value(kTimeSlot, true);
      return append_found(&enquire, answer);
    });
  }

  bool find_text(const TextQuery& query, std::string* answer) override {
    return checked([&] {
      std::vector<std::string> terms;
      for (const auto& word : query.words) terms.push_back(stem_(word));
      const auto operation = query.all ? Xapian::Query::OP_AND : Xapian::Query::OP_OR;
      Xapian::Enquire enquire(database_);
      enquire.set_query(Xapian::Query(operation, terms.begin(), terms.end()));
      // k1 and b as in FTS5, so that answers can be compared.
      enquire.set_weighting_scheme(Xapian::BM25Weight(1.2, 0, 1, 0.75, 0));
      return append_found(&enquire, answer);
    });
  }

  void close() override {
    checked([&] { database_.close(); });
  }

 private:
  static std::string slot_of(int64_t time_ms) {
    return Xapian::sortable_serialise(static_cast<double>(time_ms));
  }

  static bool append_found(Xapian::Enquire* enquire, std::string* answer) {
    const Xapian::MSet found = enquire->get_mset(0, kAnswersMax);
    for (auto at = found.begin(); at != found.end(); ++at) {
      answer->append(at.get_document().get_data());
    }
    return true;
  }

  void put(const WorkloadEntry& entry) {
    Xapian::Document document;
    document.set_data(entry.json);
    document.add_boolean_term(id_term(entry.id));
    document.add_boolean_term(type_term(entry.type));
    for (const auto& tag : entry.tags) document.add_boolean_term(tag_term(tag));
    document.add_value(kTimeSlot, slot_of(entry.timestamp_ms));
    words_.set_document(document);
    words_.index_text_without_positions(indexed_text(entry));
    database_.add_document(document);
  }

  Xapian::WritableDatabase database_;
  Xapian::Stem stem_{"en"};
  Xapian::TermGenerator words_;
};

}  // namespace

std::vector<RivalEntry> xapian_rivals() {
  return {{"Xapian", Xapian::version_string(), "varve_rivals_open_xapian",
           [] { return std::make_unique<XapianRival>(); }}};
}

}  // namespace varve::bench
