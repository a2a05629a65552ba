// What an agent that programs keeps, and how it is asked for: by the whole of a name, by its parts,
// and by what else stands for it. The entry that is meant comes first.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/tree.h"
#include "query/parse.h"
#include "query/text_lookup.h"
#include "query_fixture.h"
#include "text/wildcard.h"

namespace varve::query {
namespace {

struct Kept {
  const char* id;
  const char* text;
};

constexpr Kept kKept[] = {
    {"lexer", "Fixed the null check in src/parser/lexer.cpp:218, it read past the end"},
    {"parser", "src/parser/parser.cpp:97 copies the token list on every call"},
    {"client", "The retry loop lives in internal/client/retry.go:42"},
    {"server", "internal/server/retry.go:42 is a copy with other limits"},
    {"button", "packages/web/src/components/Button/index.tsx has the hover bug"},
    {"modal", "packages/web/src/components/Modal/index.tsx traps the focus"},
    {"windows", R"(C:\tools\AppData\Local\Temp\build.log holds the msbuild output)"},
    {"nginx", "/etc/nginx/sites-available/api.conf proxies to the upstream"},
    {"nvim", "~/.config/nvim/init.lua sets the leader key"},
    {"trace", R"(File "/srv/app/orders.py", line 88, in create_order KeyError: 'customer_id')"},
    {"grid", "panicked at 'index out of bounds: the len is 3', src/grid.rs:55:13"},
    {"java", "java.lang.NullPointerException at InvoiceService.close(InvoiceService.java:142)"},
    {"refused", "Error: connect ECONNREFUSED 127.0.0.1:5432"},
    {"moved", "error[E0382]: borrow of moved value: `config`"},
    {"argument", "src/api/users.ts(45,17): error TS2345: Argument of type 'string'"},
    {"module", "error TS2307: Cannot find module '@/lib/session'"},
    {"lease", "git push --force-with-lease is allowed on own branches"},
    {"rustls", "cargo test --no-default-features --features rustls"},
    {"orders", "curl https://api.example.com/v2/orders?status=open"},
    {"heap", "NODE_OPTIONS=--max-old-space-size=4096 fixes the heap limit"},
    {"limited", R"(response was {"error":{"code":"rate_limited","retry_after_ms":1500}})"},
    {"index", "CREATE INDEX CONCURRENTLY idx_events_tenant ON events (tenant_id)"},
    {"branch", "Work happens on feature/JIRA-4821-oauth-refresh"},
    {"node", "@types/node 20 breaks the Buffer typings"},
    {"babel", "@babel/core and @babel/preset-env are out of step"},
    {"vector", "std::vector::push_back may invalidate every iterator"},
    {"view", "std::string_view must not outlive its buffer"},
    {"channel", "tokio::sync::mpsc::channel is bounded to 64"},
    {"flush", "_internal_flush must hold the lock"},
    {"uuid", "request 550e8400-e29b-41d4-a716-446655440000 timed out"},
    {"redis", "redis runs on 10.0.12.7:6379 without a password"},
    {"sharp", "The plugin host is written in C#"},
    {"plus", "Only the codec is C++; everything else is Rust"},
    {"standard", "We compile with -std=c++20 and no exceptions"},
    {"tls", "Upgraded to v2.14.3, the release with the TLS patch"},
    {"sdk", "v3.2.14 of the SDK leaks file descriptors"},
    {"react", "react 18.2.0 and react-dom 18.2.0 must match"},
    {"crash", "2026-03-14T08:22:51Z ERROR worker crashed while draining the queue"},
    {"slow", "[2026-03-15 11:02:07,345] WARN slow consumer disconnected, 14 were left"},
    {"login", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the login"},
    {"bisect", "bisect points at e83c516 as the first bad commit"},
    {"image", "sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1"},
    {"net", ".NET 8 is required on the build agents"},
    {"validate", "AuthService.validateToken throws when the clock of the JWT is ahead"},
    {"profile", "getUserProfile is cached for ten minutes"},
    {"settings", "load_user_settings is not cached at all"},
    {"script", "JavaScript has no integers"},
    {"beans", "Java has checked exceptions"},
    {"letter", "The e-mail about the outage went to all customers"},
    {"charset", "Templates are read as UTF-8, whatever the locale is"},
    {"hook", "The precommit hook formats what is staged"},
    {"upload", "Uploads above 25MiB are refused by the proxy"},
    {"pause", "The breaker pauses for 300 ms and tries again"},
    {"shipped", "The importer is out 🎉"},
};

struct Asked {
  const char* text;
  const char* id;
};

class CodingAgent : public ::testing::Test {
 protected:
  CodingAgent() {
    for (const Kept& one : kKept) add(one);
  }
  void add(const Kept& one) {
    json::Tree entry = json::Tree::object();
    entry.set("id", json::Tree::string(one.id));
    entry.set("type", json::Tree::string("finding"));
    entry.set("content", json::Tree::string(one.text));
    log_.add(entry.canonical());
  }
  // Ids, the best first.
  std::string found(const std::string& text) {
    json::Tree query = json::Tree::object();
    query.set("text", json::Tree::string(text));
    query.set("sort_by", json::Tree::string("match"));
    return log_.ids(query.canonical());
  }
  void expect_first(const std::vector<Asked>& all) {
    for (const Asked& one : all) {
      const std::string ids = found(one.text);
      EXPECT_EQ(ids.substr(0, ids.find(' ')), one.id) << one.text << ": " << ids;
    }
  }
  QueryLog log_;
};

TEST_F(CodingAgent, FindsPathsWholeAndByPart) {
  expect_first({{"src/parser/lexer.cpp", "lexer"},
                {"lexer.cpp:218", "lexer"},
                {"where was the null check fixed in lexer.cpp?", "lexer"},
                {"src/parser/parser.cpp", "parser"},
                {"internal/server/retry.go", "server"},
                {"client/retry.go:42", "client"},
                {"Button/index.tsx", "button"},
                {"Modal/index.tsx", "modal"},
                {"C:/tools/AppData/Local/Temp/build.log", "windows"},
                {"api.conf", "nginx"},
                {"orders.py line 88", "trace"},
                {"src/grid.rs:55", "grid"}});
}

TEST_F(CodingAgent, FindsPathsWithinLongerOnes) {
  EXPECT_EQ(found("+parser/lexer.cpp"), "lexer");
  EXPECT_EQ(found("+src/parser/lexer.cpp"), "lexer") << "its line stands behind it";
  EXPECT_EQ(found("+lexer.cpp:218"), "lexer");
  EXPECT_EQ(found("+src/components/Modal"), "modal");
  EXPECT_EQ(found("copy -internal/server"), "parser");
  EXPECT_EQ(found("components/*/index.tsx"), "modal button");
  EXPECT_EQ(found("+parser/*.cpp -src/parser/l*"), "parser");
  EXPECT_EQ(found("+arser/lexer.cpp"), "");
  EXPECT_EQ(found("+parser/lexer"), "") << "a part ends where a connector of parts is";
}

TEST_F(CodingAgent, RequiresSoManyPaths) {
  std::string paths;
  for (size_t i = 0; i < kSearchesMax; ++i) paths += "-a/b" + std::to_string(i) + ' ';
  EXPECT_EQ(found("+lexer " + paths), "lexer");
  json::Tree query = json::Tree::object();
  query.set("text", json::Tree::string(paths + "+parser/lexer.cpp"));
  const auto refused = log_.search(*parse_query(query.canonical(), Scope::kSession));
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("parser/lexer.cpp"), std::string::npos);
}

// Also one that is too long for a wildcard.
TEST_F(CodingAgent, FindsASignedPathWithinALongerOneHoweverLongItIs) {
  const std::string path = "src/" + std::string(text::Wildcard::kCharactersMax, 'q') + "/main.c";
  add({"long", path.c_str()});
  add({"longer", ("app/" + path + ":4711").c_str()});
  add({"before", ("app/x" + path + ":4711").c_str()});
  add({"behind", ("app/" + path + "x:4711").c_str()});
  EXPECT_EQ(found("+" + path), "long longer");
  EXPECT_EQ(found("4711 -" + path), "behind before");
}

TEST_F(CodingAgent, FindsErrorsAsTheyArePasted) {
  expect_first({{"KeyError customer_id", "trace"},
                {"index out of bounds: the len is 3", "grid"},
                {"InvoiceService.java:142", "java"},
                {"NullPointerException", "java"},
                {"connect ECONNREFUSED 127.0.0.1:5432", "refused"},
                {"error[E0382]", "moved"},
                {"TS2345", "argument"},
                {"Cannot find module @/lib/session", "module"},
                {R"("code":"rate_limited")", "limited"}});
}

TEST_F(CodingAgent, FindsNamesOfEveryKind) {
  expect_first({{"--force-with-lease", "lease"},
                {"force with lease", "lease"},
                {"https://api.example.com/v2/orders", "orders"},
                {"max-old-space-size", "heap"},
                {"JIRA-4821", "branch"},
                {"@babel/preset-env", "babel"},
                {"std::vector", "vector"},
                {R"("mpsc::channel")", "channel"},
                {"550E8400-e29b", "uuid"},
                {"10.0.12.7", "redis"},
                {"C#", "sharp"},
                {"+C++", "plus"},
                {"std=c++20", "standard"},
                {R"("-std=c++20")", "standard"},
                {".NET", "net"}});
}

TEST_F(CodingAgent, FindsByWildcardsWhateverStandsBeforeTheFirstWord) {
  expect_first({{"/etc/nginx/*", "nginx"},
                {"~/.config/nvim/*", "nvim"},
                {"@/lib/*", "module"},
                {"@types/*", "node"},
                {"_internal_*", "flush"},
                {"--force-*", "lease"},
                {"--no-default-*", "rustls"},
                {"idx_events_*", "index"}});
  EXPECT_EQ(found("+/etc/nginx/*"), "nginx");
  EXPECT_EQ(found("+TS2307 -@/lib/*"), "");
}

TEST_F(CodingAgent, FindsByWildcardsAcrossConnectorsSideBySide) {
  expect_first({{"std::vec*", "vector"},
                {"std::string_v*", "view"},
                {"tokio::sync::*", "channel"},
                {"https://api.example.com/*", "orders"}});
  EXPECT_EQ(found("+std::vec*"), "vector");
}

TEST_F(CodingAgent, FindsHashesByTheirBeginningsAndBeginningsByTheirHash) {
  expect_first({{"9fceb02", "login"},
                {"9FCEB02", "login"},
                {"commit 9fceb02d0a", "login"},
                {"9fceb02d0ae598e95dc970b74767f19372d61af8", "login"},
                {"e83c516", "bisect"},
                {"e83c5163316f89bfbde7d9ab23ca2e25604af290", "bisect"},
                {"4bcff63911fc", "image"},
                {"sha256:4bcff63911fc", "image"}});
  EXPECT_EQ(found("+9fceb02"), "login");
  EXPECT_EQ(found("+commit -9fceb02"), "bisect");
  EXPECT_EQ(found("9fceb0"), "") << "too short for one";
  EXPECT_EQ(found("e83c51633"), "") << "a beginning of another length";
  add({"long", "9fceb02d0ae598e95 is no hash"});
  add({"again", "9fceb02 was reverted"});
  EXPECT_EQ(found("+9fceb02 reverted"), "again login") << "each, in either form";
}

TEST_F(CodingAgent, FindsAHashByItsFirstSevenToTwelveDigitsInAText) {
  const std::string hash = "5d41402abc4b2a76b9719d911017c592aab0c0de";
  for (size_t size = 6; size <= 13; ++size) {
    const std::string id = "first" + std::to_string(size);
    const std::string text = "see " + hash.substr(0, size);
    add({id.c_str(), text.c_str()});
  }
  EXPECT_EQ(found("+" + hash), "first12 first11 first10 first9 first8 first7");
}

TEST_F(CodingAgent, FindsVersionsWithAndWithoutTheirV) {
  expect_first({{"2.14.3", "tls"},
                {"v2.14.3", "tls"},
                {"3.2.14", "sdk"},
                {"version 3.2.14", "sdk"},
                {"v18.2.0", "react"},
                {"react@18.2.0", "react"},
                {"2.14.*", "tls"}});
  EXPECT_EQ(found("+2.14.3"), "tls");
  EXPECT_EQ(found("+leaks -3.2.14"), "");
}

TEST_F(CodingAgent, FindsTimesByTheirDay) {
  expect_first({{"2026-03-14", "crash"},
                {"what happened on 2026-03-14?", "crash"},
                {"2026-03-14T08:22", "crash"},
                {"2026-03-15", "slow"}});
  EXPECT_EQ(found("+2026-03-14"), "crash");
}

TEST_F(CodingAgent, FindsTheTimeOfALineOfALog) {
  add({"rival", "8 workers of 22, 51 jobs, 11 queues, 2 hosts, 7 retries"});
  expect_first({{"08:22:51", "crash"}, {"what was at 08:22?", "crash"}, {"11:02:07", "slow"}});
  EXPECT_EQ(found("+08:22"), "crash");
  EXPECT_EQ(found("+08:22:51"), "crash");
  EXPECT_EQ(found("+11:02:07"), "slow");
  EXPECT_EQ(found("worker -08:22"), "rival");
}

TEST_F(CodingAgent, FindsNamesByThePartsThatCapitalsDivide) {
  expect_first({{"user profile", "profile"},
                {"how do we validate tokens?", "validate"},
                {"auth service", "validate"},
                {"invoice service", "java"},
                {"null pointer", "java"},
                {"getUserProfile", "profile"},
                {"getuserprofile", "profile"},
                {"javascript", "script"}});
  EXPECT_EQ(found("java"), "java beans script") << "a part counts less than a word";
}

TEST_F(CodingAgent, FindsANameThatNobodyWroteByItsParts) {
  expect_first({{"get_user_profile", "profile"},
                {"loadUserSettings", "settings"},
                {"validate_token", "validate"},
                {"CreateOrder", "trace"}});
  EXPECT_EQ(found("JavaScript"), "script") << "it is there: its parts are not asked for";
}

TEST_F(CodingAgent, FindsWhatAHyphenJoinsWithAndWithoutIt) {
  expect_first({{"email", "letter"},
                {"emails to customers", "letter"},
                {"utf8", "charset"},
                {"pre-commit", "hook"},
                {"precommit", "hook"}});
  add({"rival", "An email of another day"});
  EXPECT_EQ(found("email"), "rival letter") << "the word itself counts more";
  EXPECT_EQ(found("e-mail"), "letter rival");
  EXPECT_EQ(found("+email"), "rival");
}

TEST_F(CodingAgent, FindsNumbersWithTheirUnits) {
  expect_first({{"25 MiB", "upload"}, {"25mib", "upload"}, {"300ms", "pause"}});
  EXPECT_EQ(found("+25 MiB"), "") << "no word of its own";
}

TEST_F(CodingAgent, FindsCapitalsInTheirPlural) {
  add({"cost", "The bill doubled: NAT gateways of three VPCs"});
  add({"card", "One GPU is enough for the reranker"});
  expect_first({{"VPC", "cost"}, {"vpc", "cost"}, {"VPCs", "cost"}, {"GPUs", "card"}});
  add({"rival", "A VPC for the batch jobs"});
  EXPECT_EQ(found("VPC"), "rival cost") << "the word itself counts more";
  EXPECT_EQ(found("VPCs"), "cost rival");
  EXPECT_EQ(found("+VPC"), "rival");
}

TEST_F(CodingAgent, FindsEmojis) {
  EXPECT_EQ(found("🎉"), "shipped");
  EXPECT_EQ(found("+🎉 importer"), "shipped");
  EXPECT_EQ(found("importer -🎉"), "");
  EXPECT_EQ(found("\"is out 🎉\""), "shipped");
  EXPECT_EQ(found("🎉*"), "shipped");
  EXPECT_EQ(found("\"🎉\""), "shipped") << "quotes around it change nothing";
  EXPECT_EQ(found("importer -\"🎉\""), "");
  EXPECT_EQ(found("\"🎉🎊\""), "shipped");
  EXPECT_EQ(found("🎊"), "");
}

TEST_F(CodingAgent, WhatMustOrMustNotBeThereIsAWordAndNoPart) {
  EXPECT_EQ(found("+java"), "java beans");
  EXPECT_EQ(found("+integers -java"), "script");
  EXPECT_EQ(found("+cached -user"), "profile");
  EXPECT_EQ(found("\"user profile\""), "");
}

TEST_F(CodingAgent, LooksForSoManyBeginningsOfHashes) {
  std::string text;
  for (size_t i = 0; i < kSearchesMax; ++i) text += std::to_string(1'000'000 + i) + ' ';
  EXPECT_EQ(found(text.substr(8) + "9fceb02"), "login");
  EXPECT_EQ(found(text + "9fceb02"), "");
}

}  // namespace
}  // namespace varve::query
