// Lines of the memory server of the Model Context Protocol:
//   {"type":"entity","name","entityType","observations":[...]}
//   {"type":"relation","from","to","relationType"}
// An entity's id depends only on its name, because a relation names its ends by nothing else.
#include <algorithm>

#include "base/ids.h"
#include "transfer/convert.h"

namespace varve::transfer {
namespace {

using json::Tree;

Status missing(std::string_view name) {
  return {Code::kInvalidArgument,
          "'" + std::string(name) + "' must be a string",
          {.member = std::string(name)}};
}

std::string entity_id(std::string_view name) { return stable_id("entity", name); }

// All members of the line except "type", which became another member.
Tree content_of(json::Value element, std::string_view message) {
  Tree content = Tree::from(element);
  content.erase("type");
  if (content.get("message") == nullptr) content.set("message", Tree::string(message));
  return content;
}

// Sets a kind such as "Software Project" as a tag: "Software-Project"; nothing if that is none.
void set_tag(std::string kind, Tree& entry) {
  std::replace(kind.begin(), kind.end(), ' ', '-');
  if (!is_valid_tag(kind)) return;
  Tree tags = Tree::array();
  tags.push(Tree::string(kind));
  entry.set("tags", std::move(tags));
}

Tree finding(std::string_view id, Tree content) {
  Tree entry = Tree::object();
  entry.set("id", Tree::string(id));
  entry.set("type", Tree::string("finding"));
  entry.set("content", std::move(content));
  return entry;
}

Tree ids_of(std::string_view id) {
  Tree ids = Tree::array();
  ids.push(Tree::string(id));
  return ids;
}

Result<Tree> entry_of_entity(json::Value element) {
  const Tree line = Tree::from(element);
  for (const auto name : {"name", "entityType"}) {
    const Tree* text = line.get(name);
    if (text == nullptr || !text->is_string()) return missing(name);
  }
  const std::string name = line.get_string("name");
  const std::string kind = line.get_string("entityType");
  std::string message = name + " (" + kind + ")";
  const Tree* observations = line.get("observations");
  if (observations != nullptr) {
    std::string_view separator = ": ";
    for (const Tree& observation : observations->items()) {
      if (!observation.is_string()) continue;
      message.append(separator).append(observation.text());
      separator = "; ";
    }
  }
  Tree entry = finding(entity_id(name), content_of(element, message));
  set_tag(kind, entry);
  return entry;
}

Result<Tree> entry_of_relation(json::Value element) {
  const Tree line = Tree::from(element);
  for (const auto name : {"from", "to", "relationType"}) {
    const Tree* text = line.get(name);
    if (text == nullptr || !text->is_string()) return missing(name);
  }
  const std::string from = line.get_string("from");
  const std::string to = line.get_string("to");
  const std::string kind = line.get_string("relationType");
  Tree key = Tree::array();  // as JSON, so that different relations give different texts
  for (const auto& part : {from, kind, to}) key.push(Tree::string(part));
  Tree entry = finding(stable_id("relation", key.canonical()),
                       content_of(element, from + " " + kind + " " + to));
  Tree relations = Tree::object();
  relations.set("from", ids_of(entity_id(from)));
  relations.set("to", ids_of(entity_id(to)));
  entry.set("relations", std::move(relations));
  Tree references = ids_of(entity_id(from));
  if (to != from) references.push(Tree::string(entity_id(to)));
  entry.set("references", std::move(references));
  return entry;
}

}  // namespace

Result<Tree> entry_of_knowledge(json::Value element) {
  const auto type = element.find("type");
  if (type && type->is_string() && type->text() == "entity") return entry_of_entity(element);
  if (type && type->is_string() && type->text() == "relation") return entry_of_relation(element);
  return Status(Code::kInvalidArgument,
                "this is neither an entity nor a relation of a memory server");
}

}  // namespace varve::transfer
