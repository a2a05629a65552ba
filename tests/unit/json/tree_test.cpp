#include "json/tree.h"

#include <string>

#include <gtest/gtest.h>

namespace varve::json {
namespace {

Tree tree_of(std::string_view text) {
  auto tree = Tree::parse(text);
  EXPECT_TRUE(tree.ok()) << tree.status().message();
  return tree.ok() ? *std::move(tree) : Tree();
}

TEST(Tree, BuildsEveryKindInCanonicalForm) {
  Tree tree = Tree::object();
  tree.set("z", Tree::string("a\"b"));
  tree.set("a", Tree::integer(INT64_MIN));
  tree.set("b", Tree::integer_unsigned(UINT64_MAX));
  tree.set("c", Tree::number(0.5));
  tree.set("d", Tree::number(2));
  tree.set("e", Tree());
  Tree& list = tree.set("list", Tree::array());
  list.push(Tree::boolean(true));
  list.push(Tree::boolean(false));
  list.push(Tree::object());
  EXPECT_EQ(tree.canonical(),
            R"({"a":-9223372036854775808,"b":18446744073709551615,"c":0.5,"d":2,"e":null,)"
            R"("list":[true,false,{}],"z":"a\"b"})");
  EXPECT_EQ(tree.get("d")->kind(), Kind::kInteger);
  EXPECT_EQ(tree.get("c")->kind(), Kind::kDouble);
}

TEST(Tree, ParsedTextComesBackCanonical) {
  EXPECT_EQ(tree_of(R"( {"b":[1.0,{"y":1,"x":[]}],"😀":1,"ﬀ":2,"a":9007199254740993} )").canonical(),
            R"({"a":9007199254740993,"b":[1,{"x":[],"y":1}],"😀":1,"ﬀ":2})");
}

TEST(Tree, ParseReportsWhereTheTextIsWrong) {
  const auto tree = Tree::parse("{\"a\":}");
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.status().place().offset, 5u);
}

TEST(Tree, SetReplacesAndEraseTells) {
  Tree tree = tree_of(R"({"a":1,"b":2})");
  tree.set("a", Tree::string("x"));
  EXPECT_EQ(tree.get_string("a"), "x");
  EXPECT_EQ(tree.members().size(), 2u);
  EXPECT_TRUE(tree.erase("a"));
  EXPECT_FALSE(tree.erase("a"));
  EXPECT_EQ(tree.get("a"), nullptr);
  EXPECT_EQ(tree.canonical(), R"({"b":2})");
}

TEST(Tree, TypedReadsFallBackWhenAbsentOrOfAnotherKind) {
  const Tree tree = tree_of(R"({"s":"x","i":-7,"d":1.5,"t":true,"big":18446744073709551615})");
  EXPECT_EQ(tree.get_string("s", "y"), "x");
  EXPECT_EQ(tree.get_string("i", "y"), "y");
  EXPECT_EQ(tree.get_int64("i", 3), -7);
  EXPECT_EQ(tree.get_int64("d", 3), 3);
  EXPECT_EQ(tree.get_int64("big", 3), 3);
  EXPECT_EQ(tree.get_int64("none", 3), 3);
  EXPECT_EQ(tree.get_count("i"), 0U);
  EXPECT_EQ(tree.get_count("d"), 0U);
  EXPECT_EQ(tree.get_count("none"), 0U);
  EXPECT_EQ(Tree::parse(R"({"n":7})")->get_count("n"), 7U);
  EXPECT_EQ(tree.get_double("d", 9), 1.5);
  EXPECT_EQ(tree.get_double("i", 9), -7);
  EXPECT_EQ(tree.get_double("s", 9), 9);
  EXPECT_TRUE(tree.get_bool("t", false));
  EXPECT_TRUE(tree.get_bool("s", true));
}

// source: RFC 7396 appendix A, every row.
TEST(Tree, MergePatchOfRfc7396) {
  const struct {
    const char* original;
    const char* patch;
    const char* result;
  } cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& test : cases) {
    Tree tree = tree_of(test.original);
    tree.merge_patch(tree_of(test.patch));
    EXPECT_EQ(tree.canonical(), test.result) << test.original << " patched with " << test.patch;
  }
}

// An object with so many members, each with this value; names start with `first`.
std::string very_many(char first, std::string_view value) {
  std::string text = "{";
  for (uint32_t i = 0; i < Limits().members_max; ++i) {
    text.append(1, '"').append(1, first).append(std::to_string(i)).append("\":");
    text.append(value).append(1, ',');
  }
  text.back() = '}';
  return text;
}

// To move all members behind it for each one that comes or goes took minutes.
TEST(Tree, APatchOfVeryManyMembersMovesEachOnce) {
  Tree tree = tree_of(very_many('z', "1"));
  for (int round = 0; round < 8; ++round) {
    tree.merge_patch(tree_of(very_many('a', "2")));
    ASSERT_EQ(tree.members().size(), 2 * size_t{Limits().members_max});
    tree.merge_patch(tree_of(very_many('a', "null")));
    ASSERT_EQ(tree.members().size(), size_t{Limits().members_max});
  }
  EXPECT_EQ(tree.get_count("z7"), 1U);
}

TEST(Tree, PrettyIsIndentedAndParsesBack) {
  const Tree tree = tree_of(R"({"b":[1,{"c":[]}],"a":{},"s":"x"})");
  EXPECT_EQ(tree.pretty(),
            "{\n"
            "  \"a\": {},\n"
            "  \"b\": [\n"
            "    1,\n"
            "    {\n"
            "      \"c\": []\n"
            "    }\n"
            "  ],\n"
            "  \"s\": \"x\"\n"
            "}\n");
  EXPECT_EQ(tree_of(tree.pretty()).canonical(), tree.canonical());
}

}  // namespace
}  // namespace varve::json
